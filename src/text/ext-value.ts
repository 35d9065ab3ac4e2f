/** Texts of any language in HTTP headers, which hold ASCII: `UTF-8''Z%C3%BCrich` (RFC 8187, section 3.2). Pure. */

/** Encodes also the characters that encodeURIComponent keeps and an attribute may not contain. */
export function encodeExtValue(text: string): string {
  const encoded = encodeURIComponent(text);
  return `UTF-8''${encoded.replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}

/** Returns the text of an encoded value. Undefined when it is not one, or not UTF-8. */
export function decodeExtValue(value: string): string | undefined {
  const encoded = /^UTF-8'[A-Za-z0-9-]*'((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-Fa-f]{2})*)$/i.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
