/** Encodes values as a version byte followed by MessagePack. Decoding throws on an unknown version. */
import { Packr } from 'msgpackr';

export interface Codec<V> {
  encode(value: V): Buffer;
  /** As `encode`, in a buffer of its own with `spare` more bytes at the end, of any content. */
  encodeWith?(value: V, spare: number): Buffer;
  decode(bytes: Uint8Array): V;
}

// Shared record structures are off: they are stored outside the record and have made whole stores unreadable elsewhere.
// Binary fields are copied: the next read overwrites the store's read buffer.
const packr = new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true });

/** A codec for plain objects. Increase `version` when the shape changes in a way old readers would misread. */
export function recordCodec<V extends object>(version: number): Codec<V> {
  return spacious<V>({
    encodeWith(value, spare) {
      const body = packr.pack(value);
      const bytes = Buffer.allocUnsafe(body.length + 1 + spare);
      bytes[0] = version;
      bytes.set(body, 1);
      return bytes;
    },
    decode(bytes) {
      checkVersion(bytes, version);
      return packr.unpack(bytes.subarray(1)) as V;
    },
  });
}

/** The bytes of `recordCodec` for rows whose key says all. */
export function emptyRecordCodec(version: number): Required<Codec<Record<string, never>>> {
  return spacious<Record<string, never>>({
    encodeWith(_, spare) {
      const bytes = Buffer.allocUnsafe(2 + spare);
      bytes[0] = version;
      bytes[1] = EMPTY_MAP;
      return bytes;
    },
    decode(bytes) {
      checkVersion(bytes, version);
      return {};
    },
  });
}

/** MessagePack of an object without members. */
const EMPTY_MAP = 0x80;

/** A codec made of one that leaves room. */
export function spacious<V>(codec: Required<Pick<Codec<V>, 'encodeWith' | 'decode'>>): Required<Codec<V>> {
  return { ...codec, encode: (value) => codec.encodeWith(value, 0) };
}

/** Text after a version byte, for records returned exactly as stored. The text must be well-formed. */
export function versionedTextCodec(version: number): Required<Codec<string>> {
  return spacious<string>({
    encodeWith(text, spare) {
      const bytes = Buffer.allocUnsafe(Buffer.byteLength(text) + 1 + spare);
      bytes[0] = version;
      bytes.write(text, 1);
      return bytes;
    },
    decode(bytes) {
      checkVersion(bytes, version);
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', 1);
    },
  });
}

function checkVersion(bytes: Uint8Array, version: number): void {
  if (bytes[0] !== version) throw new Error(`a stored record has version ${bytes[0]}, this build reads ${version}`);
}

/** Raw bytes. Decoding copies them, because the next read overwrites a view of the store. */
export const bytesCodec: Codec<Uint8Array> = {
  encode: (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength),
  decode: (bytes) => Uint8Array.prototype.slice.call(bytes),
};

/** Text as UTF-8. It must be well-formed: a lone surrogate would decode as another character. */
export const textCodec: Codec<string> = {
  encode: (value) => Buffer.from(value),
  decode: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(),
};
