/** Parses bytes as form fields (application/x-www-form-urlencoded, URL standard, section 5.1). Pure. */

/** Returns the fields of a body. Bytes that are not UTF-8 become U+FFFD, as in a browser. */
export function parseForm(bytes: Uint8Array): URLSearchParams {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  // The constructor drops a leading question mark as the start of a query; in a body it is part of a name.
  return new URLSearchParams(text.startsWith('?') ? `%3F${text.slice(1)}` : text);
}
