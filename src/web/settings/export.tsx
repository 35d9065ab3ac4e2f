/** The part of the settings page to download everything the account has, as one tar archive of its export. */
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
import { Form } from '../ui.tsx';
import { TAR_END, tarFolder, tarHeader, tarPadding } from '../vaults/archive/tar.ts';

const PATH = '/settings/export';

export interface ExportedBy {
  readonly accountId: string;
  readonly email: string;
  readonly source: RemoteSource;
}

/** An archive on disk. */
export interface MadeExport {
  readonly folder: string;
  /** Removes it. Call it once. */
  readonly remove: () => Promise<void>;
}

export interface AccountExports {
  /** Makes the archive of an account. Throws Refusal `overloaded`. */
  make(by: ExportedBy): Promise<MadeExport>;
}

export interface ExportPageOptions {
  readonly pages: Pages;
  readonly exports: AccountExports;
  readonly now: () => number;
}

export function exportRoute(options: ExportPageOptions): Route {
  return options.pages.memberForm(PATH, (visit) => sendExport(options, visit), { fresh: true, repeats: true });
}

async function sendExport({ pages, exports, now }: ExportPageOptions, visit: MemberVisit): Promise<Reply> {
  const { accountId, email, source, request } = visit;
  const isGone = new Promise<void>((resolve) => {
    request.linger(limits.folderDownloadSeconds, resolve);
  });
  let made: MadeExport;
  try {
    made = await exports.make({ accountId, email, source });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return pages.go(visit, '/settings#export', { text: `Not exported: ${explain(error.fault)}.`, tone: 'bad' });
  }
  let isOver = false;
  void isGone.then(async () => {
    isOver = true;
    await made.remove();
  });
  const name = `cairn-export-${new Date(now()).toISOString().slice(0, 10)}`;
  const entries = entriesOf(made.folder, name);
  const next = async () => {
    const entry = isOver ? undefined : await entries.next();
    return entry === undefined || entry.done === true ? undefined : entry.value;
  };
  return feed(200, { next }, downloadHeaders('application/x-tar', `attachment; filename="${name}.tar"`));
}

/** Yields the files of an archive as a tar archive, one piece of a file in memory at a time. */
async function* entriesOf(folder: string, name: string): AsyncGenerator<readonly Uint8Array[]> {
  const names = await readdir(folder, { recursive: true });
  for (const one of names.sort()) {
    const path = join(folder, one);
    const found = await stat(path);
    if (found.isDirectory()) {
      yield [tarFolder(`${name}/${one}`, found.mtimeMs)];
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
      <p class="lead">
        Downloads your tasks, documents, files with their history and mirror archives as one tar file, unencrypted.
        Keys, tokens and passwords are not in it. <code>cairn import</code> creates an account from it on any hub.
      </p>
      <Form csrf={visit.csrf} action={PATH} class="">
        <button class="button small" type="submit">
          Export my data
        </button>
      </Form>
    </section>
  );
}
