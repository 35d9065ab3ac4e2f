/** The pages of one file: its content, rendered or as source, and its bytes for download or display. */
import { Refusal } from '../../common/fault.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { FileRecord } from '../../sync/log/file-record.ts';
import { textContentOf } from '../../text/text-content.ts';
import type { Problem } from '../fields.tsx';
import type { MemberVisit } from '../pages.ts';
import { textPart } from '../rendering/parts.ts';
import { wantedPart } from '../rendering/parts-nav.tsx';
import { isMarkdown } from '../rendering/renderer.tsx';
import { attachment, download, picture, type VaultOptions, vaultOfVisit } from './access.ts';
import { showChanges } from './compare/changes.tsx';
import { countChangedLines } from './compare/counts.tsx';
import { FilePage, type Shown } from './file.tsx';
import { previousIn, readSeq, vaultFileOf, versionOf } from './files.ts';
import { parentOf, vaultPath } from './paths.ts';

const PATH = '/vaults/:vault';

export function fileRoutes(options: VaultOptions): Route[] {
  const { pages } = options;
  return [
    pages.member(`${PATH}/file`, (visit) => showFile(options, visit)),
    pages.member(`${PATH}/changes`, (visit) => showChanges(options, visit)),
    pages.member(`${PATH}/bytes`, (visit) => {
      const { path, sizeBytes, content, source } = askedVersion(options, visit);
      if (source !== undefined) return download(path, source);
      return attachment(options, visit, { path, sizeBytes }, content);
    }),
    pages.member(`${PATH}/raw`, (visit) => {
      const { sizeBytes, content, source } = askedVersion(options, visit);
      if (source !== undefined) throw new Refusal({ kind: 'not_found', what: 'the file is too large to be shown' });
      return picture(options, visit, sizeBytes, () => {
        const bytes = content();
        const type = bytes && imageTypeOf(bytes);
        if (bytes === undefined || type === undefined)
          throw new Refusal({ kind: 'not_found', what: 'there is no image of this name' });
        return { bytes, type };
      });
    }),
  ];
}

/** The version of a file named in the query; by default the current one. */
function askedVersion({ sync }: VaultOptions, { accountId, request }: MemberVisit) {
  const { id } = vaultOfVisit(sync, accountId, request.params['vault']);
  const file = vaultFileOf(sync, id, request.query.get('path') ?? '');
  return { path: file.path, ...versionOf(sync, id, file, readSeq(request.query.get('seq')) ?? file.seq) };
}

/** Shows a file: the one of the address, or the one whose form was refused. */
export async function showFile(
  options: VaultOptions,
  visit: MemberVisit,
  { path, problem }: { readonly path?: string; readonly problem?: Problem } = {},
): Promise<Reply> {
  const { pages, sync } = options;
  const { accountId, request } = visit;
  const { query } = request;
  const vault = vaultOfVisit(sync, accountId, request.params['vault']);
  const file = vaultFileOf(sync, vault.id, path ?? query.get('path') ?? '');
  const seq = readSeq(query.get('seq')) ?? file.seq;
  const { sizeBytes, content, source } = versionOf(sync, vault.id, file, seq);
  const isSource = query.get('view') === 'source';
  let shown: Shown = { kind: 'binary' };
  if (source === undefined) {
    const close = options.downloads.take(request.caller, sizeBytes);
    try {
      shown = await shownOf(options, { visit, vaultId: vault.id, file, isSource }, content);
    } finally {
      close();
    }
  }
  const { versions, hasMore } = await sync.history.list(accountId, {
    vaultId: vault.id,
    path: file.path,
    limit: limits.versionRowsPerPage,
    before: readSeq(query.get('before')),
  });
  const older = hasMore ? versions.at(-1)?.seq : undefined;
  const numbers = await sync.history.numbersOf(accountId, vault.id, file);
  const beforeLast = previousIn(numbers, versions.at(-1)?.seq ?? 0);
  const previous = beforeLast === undefined ? undefined : sync.reader.versionMeta(vault.id, beforeLast);
  const steps = versions.map((version, index) => ({ version, previous: versions[index + 1] ?? previous }));
  const counts = await countChangedLines(sync, { accountId, vaultId: vault.id }, steps);
  const body = { visit, vault, file, seq, shown, versions, older, numbers, counts, problem };
  return pages.show(visit, {
    title: file.path,
    section: 'vaults',
    // The address of a form that was refused shows nothing when it is opened again.
    ...(problem === undefined ? { live: ['vaults'] as const } : { problem }),
    body: <FilePage {...body} />,
  });
}

interface Asked {
  readonly visit: MemberVisit;
  readonly vaultId: string;
  readonly file: FileRecord;
  readonly isSource: boolean;
}

async function shownOf(
  { renderer }: VaultOptions,
  { visit, vaultId, file, isSource }: Asked,
  content: () => Uint8Array | undefined,
): Promise<Shown> {
  const bytes = content();
  if (bytes === undefined) return { kind: 'deleted' };
  if (imageTypeOf(bytes) !== undefined) return { kind: 'image' };
  const text = textContentOf(bytes);
  if (text === undefined) return { kind: 'binary' };
  const { accountId } = visit;
  const canRender = isMarkdown(file.path);
  if (canRender && !isSource) {
    const base = { vault: vaultPath(vaultId), folder: parentOf(file.path) };
    const rendered = await renderer.markdown(text, base, accountId);
    if (rendered !== undefined) return { kind: 'markdown', rendered };
  }
  const part = textPart(text, wantedPart(visit.request.query), limits.shownTextCharsMax);
  const rendered = await renderer.code(part, file.path, accountId);
  return { kind: 'text', part, rendered, canRender };
}

/** The first bytes of images: a type is never taken from a name. */
const PNG = '89504e470d0a1a0a';
const JPEG = 'ffd8ff';

/**
 * The media type of an image without markup; undefined for anything else, including SVG, which is markup. The
 * signatures are from the MIME Sniffing standard of WHATWG, section 6.1; the brand of AVIF is from ISO/IEC 23000-22.
 */
function imageTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16));
  const hex = head.toString('hex');
  const ascii = head.toString('latin1');
  if (hex.startsWith(PNG)) return 'image/png';
  if (hex.startsWith(JPEG)) return 'image/jpeg';
  if (ascii.startsWith('GIF87a') || ascii.startsWith('GIF89a')) return 'image/gif';
  if (ascii.startsWith('RIFF') && ascii.slice(8, 14) === 'WEBPVP') return 'image/webp';
  return ascii.slice(4, 12) === 'ftypavif' ? 'image/avif' : undefined;
}
