/** The page of the certificate mirror: the credential, the blobs, and their downloads. */
import type { VNode } from 'preact';
import { Refusal } from '../../common/fault.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import type { Blob } from '../../mirror/blob-reads.ts';
import type { CurrentCredential } from '../../mirror/credentials.ts';
import { mirrorDownload } from '../../mirror/routes.ts';
import type { Capabilities } from '../capabilities.ts';
import type { MemberVisit, Pages, View } from '../pages.ts';
import { bytesText, Confirm, Copyable, Empty, Form, Given, Moment } from '../ui.tsx';

const PATH = '/mirror';

export interface MirrorOptions extends Pick<Capabilities, 'blobs' | 'credentials'> {
  readonly pages: Pages;
}

export function mirrorPages(options: MirrorOptions): Route[] {
  const { pages, blobs, credentials } = options;
  return [
    pages.member(PATH, (visit) => pages.show(visit, mirrorView(options, visit))),
    pages.memberForm(`${PATH}/credential`, (visit, form) => issue(options, visit, form.get('rotate') === 'true'), {
      fresh: true,
    }),
    pages.memberForm(`${PATH}/credential/delete`, async (visit) => {
      await credentials.destroy(visit.accountId, visit.source);
      return pages.go(visit, PATH, {
        text: 'Credential deleted. Blobs stay stored; to download them, upload them again with a new credential.',
      });
    }),
    pages.member(`${PATH}/:sha/download`, async ({ request, accountId }) => {
      const credential = credentials.current(accountId);
      if (credential === undefined) throw new Refusal({ kind: 'blob_unverifiable' });
      const reply = await mirrorDownload(blobs, request, { accountId, credentialId: credential.credentialId });
      return { ...reply, headers: { ...reply.headers, 'Content-Disposition': 'attachment' } };
    }),
  ];
}

async function issue({ pages, credentials }: MirrorOptions, visit: MemberVisit, rotate: boolean) {
  const { token, hmac_secret: secret } = await credentials.issue(visit.accountId, rotate, visit.source);
  if (secret === null) {
    return pages.go(visit, PATH, {
      text: 'This is the token of your credential. Its secret was shown when it was made; replace the credential if it is lost.',
      secrets: [{ label: 'Token', value: token }],
    });
  }
  return pages.go(visit, PATH, {
    text: 'Credential created. Copy the secret now: it is not shown again.',
    secrets: [
      { label: 'Token', value: token, hint: 'Says who uploads. CAIRN_MIRROR_TOKEN in a CI job.' },
      { label: 'Secret', value: secret, hint: 'Signs what is uploaded. CAIRN_MIRROR_SECRET in a CI job.' },
    ],
  });
}

function mirrorView({ pages, blobs: stored, credentials }: MirrorOptions, visit: MemberVisit): View {
  const credential = credentials.current(visit.accountId);
  const before = readBefore(visit.request.query.get('before'));
  const { blobs, nextBefore } = stored.list(visit.accountId, {
    limit: limits.blobRowsPerPage,
    ...(before === undefined ? {} : { before }),
  });
  return {
    title: 'Mirror',
    section: 'mirror',
    live: ['mirror'],
    body: (
      <>
        <div class="intro">
          <h1>Certificate mirror</h1>
          <p class="lead">
            Encrypted tarballs uploaded by your CI jobs, one or more for each commit. The hub verifies their signatures
            and cannot read them.
          </p>
        </div>
        <Credential visit={visit} credential={credential} />
        <section class="panel" aria-labelledby="blobs">
          <h2 id="blobs">Blobs</h2>
          {blobs.length === 0 ? (
            <NoBlobs hasCredential={credential !== undefined} hub={pages.hubUrl(visit)} />
          ) : (
            <BlobTable blobs={blobs} visit={visit} current={credential?.credentialId} />
          )}
          {nextBefore === undefined && before === undefined ? null : (
            <nav class="actions" aria-label="Pages of blobs">
              {before === undefined ? null : <a href={PATH}>Newest</a>}
              {nextBefore === undefined ? null : <a href={`${PATH}?before=${nextBefore}`}>Older</a>}
            </nav>
          )}
        </section>
      </>
    ),
  };
}

function readBefore(text: string | null): number | undefined {
  return text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

interface CredentialProps {
  readonly visit: MemberVisit;
  readonly credential: CurrentCredential | undefined;
}

function Credential({ visit, credential }: CredentialProps): VNode {
  const { csrf, zone } = visit;
  if (credential === undefined) {
    return (
      <section class="panel" aria-labelledby="credential">
        <h2 id="credential">Credential</h2>
        <p class="lead">
          Uploads need a token and a signing secret. Together they allow uploads and downloads of blobs, and nothing
          else.
        </p>
        <Form csrf={csrf} action={`${PATH}/credential`}>
          <div>
            <button class="button primary" type="submit">
              Create the credential
            </button>
          </div>
        </Form>
      </section>
    );
  }
  return (
    <section class="panel" aria-labelledby="credential">
      <h2 id="credential">Credential</h2>
      <div class="row">
        <p class="row-main">
          <span class="badge good">in force</span>{' '}
          <span class="meta">
            since <Moment at={credential.createdAt} zone={zone} />
          </span>
        </p>
        <div class="actions">
          <Form csrf={csrf} action={`${PATH}/credential`} class="">
            <button class="button small" type="submit">
              Show token
            </button>
          </Form>
          <Confirm label="Replace…">
            <p>
              The current token and secret stop working immediately. Archives uploaded under them cannot be downloaded
              until they are uploaded again.
            </p>
            <Form csrf={csrf} action={`${PATH}/credential`}>
              <input type="hidden" name="rotate" value="true" />
              <button class="button danger" type="submit">
                Replace the credential
              </button>
            </Form>
          </Confirm>
          <Confirm label="Delete…">
            <p>Nobody can upload or download until you create a new credential. Blobs stay stored.</p>
            <Form csrf={csrf} action={`${PATH}/credential/delete`}>
              <button class="button danger" type="submit">
                Delete the credential
              </button>
            </Form>
          </Confirm>
        </div>
      </div>
    </section>
  );
}

function NoBlobs({ hasCredential, hub }: { readonly hasCredential: boolean; readonly hub: string }): VNode {
  return (
    <Empty title="No blobs yet">
      <p>
        {hasCredential
          ? 'In a repository, on a machine that has the cairn command and one of your MCP keys:'
          : 'Create the credential above, or let the cairn command do it. In a repository, with one of your MCP keys:'}
      </p>
      <Copyable
        value={[`export CAIRN_SERVER=${hub} CAIRN_KEY=<MCP key>`, 'cairn mirror init', 'cairn mirror push'].join('\n')}
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
            {record.credential_id === current ? null : <span class="badge warn">earlier credential</span>}
            <p class="meta">
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
              Download<span class="sr-only"> the blob of {commitSha.slice(0, 12)}</span>
            </a>
          ) : (
            <span class="meta">upload it again to download it</span>
          )}
        </li>
      ))}
    </ul>
  );
}
