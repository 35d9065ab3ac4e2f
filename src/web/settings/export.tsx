/** The part of the settings page to download everything the account has, as an archive or as plain files, in one tar file. */
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { VNode } from 'preact';
import type { RemoteSource } from '../../audit/records.ts';
import { explain, Refusal } from '../../common/fault.ts';
import { feed, type Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { downloadHeaders } from '../download-headers.ts';
import type { MemberVisit, Pages } from '../pages.ts';
import { Form, SubmitButton } from '../ui.tsx';
import { TAR_END, tarFeed, tarFolder, tarHeader, tarPadding } from '../vaults/archive/tar.ts';

const PATH = '/settings/export';

export interface ExportedBy {
  readonly accountId: string;
  readonly email: string;
  /** As plain files; otherwise as an archive that a hub can import. */
  readonly plain: boolean;
  readonly source: RemoteSource;
}

/** An export on disk. */
export interface MadeExport {
  readonly folder: string;
  /** Removes it. Call it once. */
  readonly remove: () => Promise<void>;
}

export interface AccountExports {
  /** Makes the export of an account. Throws Refusal `overloaded`. */
  make(by: ExportedBy): Promise<MadeExport>;
}

export interface ExportPageOptions {
  readonly pages: Pages;
  readonly exports: AccountExports;
  readonly now: () => number;
}

export function exportRoute(options: ExportPageOptions): Route {
  return options.pages.memberForm(PATH, (visit, form) => sendExport(options, visit, form.get('plain') === 'true'), {
    fresh: true,
    repeats: true,
  });
}

async function sendExport(
  { pages, exports, now }: ExportPageOptions,
  visit: MemberVisit,
  plain: boolean,
): Promise<Reply> {
  const { accountId, email, source, request } = visit;
  const isGone = new Promise<void>((resolve) => {
    request.linger(limits.folderDownloadSeconds, resolve);
  });
  let made: MadeExport;
  try {
    made = await exports.make({ accountId, email, plain, source });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return pages.go(visit, '/settings', { text: `Not exported: ${explain(error.fault)}.`, tone: 'bad' });
  }
  const name = `cairn-${plain ? 'files' : 'export'}-${new Date(now()).toISOString().slice(0, 10)}`;
  const archive = tarFeed(entriesOf(made.folder, name));
  void isGone.then(async () => {
    archive.stop();
    await made.remove();
  });
  return feed(200, archive, downloadHeaders('application/x-tar', `attachment; filename="${name}.tar"`));
}

/** Yields the files of a folder as a tar archive, one piece of a file in memory at a time. */
async function* entriesOf(folder: string, name: string): AsyncGenerator<readonly Uint8Array[]> {
  const names = (await readdir(folder, { recursive: true })).sort();
  for (const [index, one] of names.entries()) {
    const path = join(folder, one);
    const found = await stat(path);
    if (found.isDirectory()) {
      // The files in a folder tell of it.
      if (names[index + 1]?.startsWith(`${one}/`) !== true) yield [tarFolder(`${name}/${one}`, found.mtimeMs)];
      continue;
    }
    yield [tarHeader(`${name}/${one}`, found.size, found.mtimeMs)];
    for await (const piece of createReadStream(path, { highWaterMark: limits.exportPieceBytes })) {
      yield [piece as Buffer];
    }
    yield [tarPadding(found.size)];
  }
  yield [TAR_END];
}

export function ExportData({ visit }: { readonly visit: MemberVisit }): VNode {
  return (
    <section class="panel" aria-labelledby="export">
      <h2 id="export">Export my data</h2>
      <p class="lead">Downloads everything as one tar file, unencrypted. Keys, tokens and passwords are not in it.</p>
      <Form csrf={visit.csrf} action={PATH} class="">
        <SubmitButton look="small">Export my data</SubmitButton>
        <p class="hint">
          With history and the trash. <code>cairn import</code> creates an account from it on any hub.
        </p>
      </Form>
      <Form csrf={visit.csrf} action={PATH} class="">
        <input type="hidden" name="plain" value="true" />
        <SubmitButton look="small">Export as plain files</SubmitButton>
        <p class="hint">
          Your files and documents as they are, tasks as CSV and as a calendar. You can open them without Cairn.
        </p>
      </Form>
    </section>
  );
}
