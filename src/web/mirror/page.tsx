/** The page of backups: the credential, the repositories, the archives and their downloads. */
import type { VNode } from 'preact';
import { Refusal } from '../../common/fault.ts';
import { readId } from '../../fields/kinds.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Blob } from '../../mirror/blob-reads.ts';
import type { ReadableArchives } from '../../mirror/bound.ts';
import type { CurrentCredential } from '../../mirror/credentials.ts';
import { UNKNOWN_GROUP } from '../../mirror/declared.ts';
import { isSha256 } from '../../mirror/fields.ts';
import { mirrorDownload } from '../../mirror/routes.ts';
import type { Capabilities } from '../capabilities.ts';
import { savedAs } from '../download-headers.ts';
import type { Problem } from '../fields.tsx';
import type { MemberVisit, Pages, View } from '../pages.ts';
import { bytesText, Confirm, Copyable, Empty, Form, Given, Moment, SubmitButton } from '../ui.tsx';
import { RepositoryList } from './repositories.tsx';
import { UploaderList, uploaderForms } from './uploaders.tsx';

const PATH = '/mirror';
/** Says how unreadable archives are readable again. */
const WAY_BACK =
  'Their bytes are not lost: an export of your account (Settings) contains each of them as blobs/<sha256>.';
const WHOLE = { repository: 'complete', tree: 'files only' } as const;

export interface MirrorOptions extends Pick<Capabilities, 'blobs' | 'credentials' | 'uploaders'> {
  readonly pages: Pages;
}

export function mirrorPages(options: MirrorOptions): Route[] {
  const { pages, blobs, credentials } = options;
  return [
    pages.member(PATH, (visit) => pages.show(visit, mirrorView(options, visit))),
    pages.memberForm(`${PATH}/credential`, (visit, form) => issue(options, visit, form.get('rotate') ?? ''), {
      fresh: true,
    }),
    ...uploaderForms({ ...options, view: (visit, problem) => mirrorView(options, visit, problem) }, PATH),
    pages.memberForm(`${PATH}/credential/delete`, async (visit) => {
      await credentials.destroy(visit.accountId, visit.source);
      return pages.go(visit, PATH, {
        text: `Credential deleted. Archives stay stored; to download them, upload them again with a new credential. ${WAY_BACK}`,
      });
    }),
    pages.member(`${PATH}/:sha/download`, async ({ request, accountId }) => {
      const credential = credentials.current(accountId);
      if (credential === undefined) throw new Refusal({ kind: 'blob_unverifiable' });
      const reply = await mirrorDownload(blobs, request, { accountId, credentialId: credential.credentialId });
      return {
        ...reply,
        headers: { ...reply.headers, 'Content-Disposition': savedAs(`${request.params['sha']}.bin`) },
      };
    }),
  ];
}

async function issue({ pages, credentials }: MirrorOptions, visit: MemberVisit, rotate: string) {
  const { token, hmac_secret: secret } =
    rotate === 'keep'
      ? await credentials.rotate(visit.accountId, visit.source)
      : await credentials.issue(visit.accountId, rotate === 'true', visit.source);
  if (secret === null) {
    return pages.go(visit, PATH, {
      text: 'This is the token of your credential. Its secret was shown when it was made; replace the credential if it is lost.',
      secrets: [{ label: 'Token', value: token }],
    });
  }
  return pages.go(visit, PATH, {
    text: 'Credential created. Copy the secret now: it is not shown again.',
    secrets: [
      { label: 'Token', value: token, hint: 'Identifies the uploader. In CI, set it as CAIRN_MIRROR_TOKEN.' },
      { label: 'Secret', value: secret, hint: 'Signs uploads. In CI, set it as CAIRN_MIRROR_SECRET.' },
    ],
  });
}

function mirrorView(
  { pages, blobs: stored, credentials, uploaders }: MirrorOptions,
  visit: MemberVisit,
  problem?: Problem,
): View {
  const credential = credentials.current(visit.accountId);
  const before = readId(visit.request.query.get('before') ?? undefined);
  const group = readGroup(visit.request.query.get('repository'));
  const { blobs, nextBefore } = stored.list(visit.accountId, {
    limit: limits.blobRowsPerPage,
    ...(before === undefined ? {} : { before }),
    ...(group === undefined ? {} : { repository_id: group }),
  });
  const { groups } = stored.groups(visit.accountId, { limit: limits.blobPageDefault });
  const older = new URLSearchParams({ ...(group && { repository: group }), before: String(nextBefore) });
  return {
    title: 'Backups',
    section: 'mirror',
    ...(problem === undefined ? { live: ['mirror'] as const } : { problem }),
    body: (
      <>
        <div class="intro">
          <h1>Backups</h1>
          <p class="lead">
            Encrypted archives of your git repositories, uploaded by you or your CI jobs. The hub verifies their
            signatures and cannot read them.
          </p>
        </div>
        <Credential visit={visit} credential={credential} archives={credentials.archives(visit.accountId)} />
        {credential === undefined ? null : (
          <UploaderList visit={visit} path={PATH} uploaders={uploaders.list(visit.accountId)} problem={problem} />
        )}
        <RepositoryList visit={visit} path={PATH} groups={groups} shown={group} />
        <section class="panel" aria-labelledby="blobs">
          <h2 id="blobs">{group === undefined ? 'Archives' : 'Archives of this repository'}</h2>
          {blobs.length === 0 ? (
            <NoBlobs hasCredential={credential !== undefined} hub={pages.hubUrl(visit)} />
          ) : (
            <BlobTable blobs={blobs} visit={visit} current={credential?.archivesId} />
          )}
          {nextBefore === undefined && before === undefined ? null : (
            <nav class="actions" aria-label="Pages of archives">
              {before === undefined ? null : (
                <a href={group === undefined ? PATH : `${PATH}?repository=${group}`}>Newest</a>
              )}
              {nextBefore === undefined ? null : <a href={`${PATH}?${older}`}>Older</a>}
            </nav>
          )}
        </section>
      </>
    ),
  };
}

interface CredentialProps {
  readonly visit: MemberVisit;
  readonly credential: CurrentCredential | undefined;
  readonly archives: ReadableArchives;
}

function Credential({ visit, credential, archives: { readable, unreadable } }: CredentialProps): VNode {
  const { csrf, zone } = visit;
  if (credential === undefined) {
    return (
      <section class="panel" aria-labelledby="credential">
        <h2 id="credential">Credential</h2>
        <p class="lead">
          Uploads need a token and a signing secret. Together they allow uploads and downloads of archives, and nothing
          else.
        </p>
        {unreadable === 0 ? null : <Unreadable count={unreadable} />}
        <Form csrf={csrf} action={`${PATH}/credential`}>
          <div>
            <SubmitButton look="primary">Create the credential</SubmitButton>
          </div>
        </Form>
      </section>
    );
  }
  return (
    <section class="panel" aria-labelledby="credential">
      <h2 id="credential">Credential</h2>
      {unreadable === 0 ? null : <Unreadable count={unreadable} />}
      <div class="row">
        <p class="row-main">
          <span class="badge good">in force</span>{' '}
          <span class="meta">
            since <Moment at={credential.createdAt} zone={zone} />
          </span>
        </p>
        <div class="actions">
          <Form csrf={csrf} action={`${PATH}/credential`} class="">
            <SubmitButton look="small">Show token</SubmitButton>
          </Form>
          <Confirm label="Replace…">
            <p>The current token and secret stop working immediately. {stay(readable)}</p>
            <Form csrf={csrf} action={`${PATH}/credential`}>
              <input type="hidden" name="rotate" value="keep" />
              <SubmitButton look="danger">Replace the credential</SubmitButton>
            </Form>
          </Confirm>
          <Confirm label="Replace and lock archives…">
            <p>
              Use this if somebody else may have uploaded archives with the secret. {lock(readable)} {WAY_BACK}
            </p>
            <Form csrf={csrf} action={`${PATH}/credential`}>
              <input type="hidden" name="rotate" value="true" />
              <SubmitButton look="danger">{`Replace, and lock ${archivesText(readable)}`}</SubmitButton>
            </Form>
          </Confirm>
          <Confirm label="Delete…">
            <p>
              Nobody can upload or download until you create a new credential. Credentials for CI end too.{' '}
              {lock(readable)} {WAY_BACK}
            </p>
            <Form csrf={csrf} action={`${PATH}/credential/delete`}>
              <SubmitButton look="danger">{`Delete, and lock ${archivesText(readable)}`}</SubmitButton>
            </Form>
          </Confirm>
        </div>
      </div>
    </section>
  );
}

function archivesText(count: number): string {
  return count === 1 ? '1 archive' : `${count} archives`;
}

function stay(count: number): string {
  if (count === 0) return '';
  return `${archivesText(count)} stay${count === 1 ? 's' : ''} readable under the new ones.`;
}

function lock(count: number): string {
  if (count === 0) return 'No archive becomes unreadable.';
  return `${archivesText(count)} become${count === 1 ? 's' : ''} unreadable until uploaded again.`;
}

function Unreadable({ count }: { readonly count: number }): VNode {
  return (
    <p class="note">
      {archivesText(count)} uploaded under an earlier credential cannot be downloaded until uploaded again. {WAY_BACK}
    </p>
  );
}

/** Returns the repository of a link; undefined: all. */
function readGroup(given: string | null): string | undefined {
  return given !== null && (given === UNKNOWN_GROUP || isSha256(given)) ? given : undefined;
}

function NoBlobs({ hasCredential, hub }: { readonly hasCredential: boolean; readonly hub: string }): VNode {
  return (
    <Empty title="No backups yet">
      <p>
        {hasCredential
          ? 'In a repository, on a machine that has the cairn command and one of your MCP keys:'
          : 'Create the credential above, or let the cairn command do it. In a repository, with one of your MCP keys:'}
      </p>
      <Copyable
        value={[`export CAIRN_SERVER=${hub} CAIRN_KEY=<MCP key>`, 'cairn backups init', 'cairn backups push'].join(
          '\n',
        )}
        label="the commands of a first backup"
      />
    </Empty>
  );
}

interface BlobTableProps {
  readonly blobs: readonly Blob[];
  readonly visit: MemberVisit;
  readonly current: string | undefined;
}

function BlobTable({ blobs, visit, current }: BlobTableProps): VNode {
  return (
    <ul class="rows">
      {blobs.map(({ commitSha, sha256, record }) => (
        <li key={`${commitSha}${sha256}`} class="row">
          <div class="row-main">
            <code class="sha" title={`commit ${commitSha}`}>
              {commitSha.slice(0, 12)}
            </code>{' '}
            {record.archive_kind === null ? null : (
              <span class="badge">{record.base_sha256 === null ? WHOLE[record.archive_kind] : 'increment'}</span>
            )}{' '}
            {record.credential_id === current ? null : <span class="badge warn">earlier credential</span>}
            <p class="meta">
              {record.repository_label === null ? null : (
                <>
                  <Given>{record.repository_label}</Given> ·{' '}
                </>
              )}
              {bytesText(record.byte_size)} · <Moment at={record.uploaded_at} zone={visit.zone} />
              {record.uploaded_by === null ? null : (
                <>
                  {' '}
                  · by <Given>{record.uploaded_by}</Given>
                </>
              )}
            </p>
          </div>
          {record.credential_id === current ? (
            <a
              class="button small"
              href={`${PATH}/${commitSha}/download?sha256=${sha256}`}
              download={`${commitSha}.bin`}
            >
              Download<span class="sr-only"> the archive of {commitSha.slice(0, 12)}</span>
            </a>
          ) : (
            <span class="meta">upload it again to download it</span>
          )}
        </li>
      ))}
    </ul>
  );
}
