/** Reads a form with files (multipart/form-data, RFC 7578). All files are kept in memory, so everything is bounded. */
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { invalidField, Refusal } from '../../common/fault.ts';
import type { RouteRequest } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';

export interface UploadedFile {
  /** As sent by the browser; includes folders if a folder was chosen. */
  readonly name: string;
  readonly bytes: Buffer;
}

export interface Upload {
  readonly fields: URLSearchParams;
  readonly files: readonly UploadedFile[];
}

export const UPLOAD_TYPE = 'multipart/form-data';

/**
 * Reads a form with files as it arrives. Throws Refusal `invalid_fields` for an incomplete form, too many files or too
 * large ones, and `media_type` for another kind of body.
 */
export async function readUpload(request: Pick<RouteRequest, 'body' | 'header'>): Promise<Upload> {
  const parser = open(request.header('content-type') ?? '');
  const fields = new URLSearchParams();
  const files: UploadedFile[] = [];
  let problem: Refusal | undefined;
  const refuse = (sentence: string) => {
    problem ??= invalidField('files', sentence);
  };
  let end = () => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  const breakOff = () => {
    refuse('The form is incomplete. Send it again.');
    end();
  };
  parser.on('finish', end);
  parser.on('error', breakOff);
  parser.on('field', (name: string, value: string) => fields.append(name, value));
  parser.on('filesLimit', () => refuse(`At most ${limits.uploadFilesMax} files can be uploaded at once.`));
  parser.on('file', (_field: string, stream: BusboyFileStream, name: string) => {
    const parts: Buffer[] = [];
    stream.on('data', (part: Buffer) => parts.push(part));
    // If a body ends within a file, the file's stream fails, not the parser.
    stream.on('error', breakOff);
    stream.on('limit', () => refuse(`“${name}” is larger than ${limits.fileBytesMax / 2 ** 20} MiB.`));
    // A field without a chosen file arrives as a file without a name.
    stream.on('end', () => name && files.push({ name, bytes: Buffer.concat(parts) }));
  });
  await request.body.pipe((bytes) => void parser.write(Buffer.from(bytes)));
  parser.end();
  await done;
  if (problem !== undefined) throw problem;
  return { fields, files };
}

function open(type: string): BusboyInstance {
  const { fileBytesMax: fileSize, uploadFilesMax: files } = limits;
  try {
    return new Busboy({
      headers: { 'content-type': type },
      // If a folder was chosen, file names include its path.
      preservePath: true,
      limits: { fileSize, files, fields: 20, fieldSize: 64 * 1024, parts: files + 20, headerPairs: 20 },
    });
  } catch {
    throw new Refusal({ kind: 'media_type', expected: `${UPLOAD_TYPE} with a boundary`, given: type });
  }
}
