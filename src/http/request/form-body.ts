/** Owns how bytes become form fields (application/x-www-form-urlencoded, URL standard, section 5.1). Pure. */

/** Reads the fields of a body. Bytes that are no UTF-8 become U+FFFD, as a browser would read them. */
export function parseForm(bytes: Uint8Array): URLSearchParams {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  // The constructor takes a leading question mark for the mark of a query and drops it; in a body it is part of a name.
  return new URLSearchParams(text.startsWith('?') ? `%3F${text.slice(1)}` : text);
}
