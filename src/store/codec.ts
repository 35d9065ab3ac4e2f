/** Owns how values become bytes: a version byte, then MessagePack. It refuses bytes of a version it does not know. */
import { Packr } from 'msgpackr';

export interface Codec<V> {
  encode(value: V): Buffer;
  decode(bytes: Uint8Array): V;
}

// Shared record structures are off: they live outside the record and have made whole stores unreadable elsewhere.
// Binary fields are copied out: the store's read buffer is overwritten by the next read.
const packr = new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true });

/** A codec for plain objects. `version` rises when the shape changes in a way that old readers misread. */
export function recordCodec<V extends object>(version: number): Codec<V> {
  return {
    encode(value) {
      const body = packr.pack(value);
      const bytes = Buffer.allocUnsafe(body.length + 1);
      bytes[0] = version;
      bytes.set(body, 1);
      return bytes;
    },
    decode(bytes) {
      checkVersion(bytes, version);
      return packr.unpack(bytes.subarray(1)) as V;
    },
  };
}

/** Text after a version byte, for records whose stored form is what is shown. It must be well-formed. */
export function versionedTextCodec(version: number): Codec<string> {
  return {
    encode(text) {
      const bytes = Buffer.allocUnsafe(Buffer.byteLength(text) + 1);
      bytes[0] = version;
      bytes.write(text, 1);
      return bytes;
    },
    decode(bytes) {
      checkVersion(bytes, version);
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', 1);
    },
  };
}

function checkVersion(bytes: Uint8Array, version: number): void {
  if (bytes[0] !== version) throw new Error(`a stored record has version ${bytes[0]}, this build reads ${version}`);
}

/** Bytes as they are. Decoding copies, because a view of the store is overwritten by the next read. */
export const bytesCodec: Codec<Uint8Array> = {
  encode: (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength),
  decode: (bytes) => Uint8Array.prototype.slice.call(bytes),
};

/** Text as UTF-8. It must be well-formed: half of a surrogate pair would come back as another character. */
export const textCodec: Codec<string> = {
  encode: (value) => Buffer.from(value),
  decode: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(),
};
