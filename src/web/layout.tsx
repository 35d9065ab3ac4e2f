/** Renders the frame of every page: head, navigation, and the notice left by the previous page. */
import type { ComponentChildren, VNode } from 'preact';
import { version } from '../common/version.ts';
import type { AssetPaths } from './assets.ts';
import type { Notice } from './notices.ts';
import { CsrfField, Secret, SubmitButton } from './ui.tsx';
import type { LiveTopic, MemberVisit } from './visit.ts';

const SECTIONS = [
  { id: 'home', path: '/', name: 'Home' },
  { id: 'tasks', path: '/tasks', name: 'Tasks' },
  { id: 'vaults', path: '/vaults', name: 'Vaults' },
  { id: 'documents', path: '/documents/docs', name: 'Documents' },
  { id: 'activity', path: '/activity', name: 'Activity' },
  { id: 'mirror', path: '/mirror', name: 'Backups' },
  { id: 'accounts', path: '/accounts', name: 'Accounts', forOperator: true },
] as const;

/** Settings stand beside the account, so that the sections fit on one line of a phone. */
export type Section = (typeof SECTIONS)[number]['id'] | 'settings';

/** Statuses from here on refuse a request. */
const REFUSED = 400;

export interface Frame {
  readonly title: string;
  readonly assets: AssetPaths;
  /** Time zone of the times on the page; the script compares it with the browser's zone. */
  readonly zone: string;
  readonly section?: Section | undefined;
  /** The signed-in member; absent for visitors. */
  readonly member?: Pick<MemberVisit, 'accountId' | 'email' | 'isOperator' | 'liveMark'> | undefined;
  readonly live?: readonly LiveTopic[] | undefined;
  readonly renews?: boolean | undefined;
  readonly csrf: string;
  readonly notice?: Notice | undefined;
  /** For a page that is open already: without the frame around the page, which stays as it is. */
  readonly isRenewal?: boolean;
  readonly children: ComponentChildren;
}

export function Document({ frame, status }: { readonly frame: Frame; readonly status: number }): VNode {
  const { title, assets, zone, live, renews, member, isRenewal } = frame;
  return (
    <html
      lang="en"
      data-zone={zone}
      data-live={member && live?.join(' ')}
      data-renews={member && renews === true ? '' : undefined}
      data-mark={live && member?.liveMark}
      data-owner={member?.accountId}
      data-refused={status < REFUSED ? undefined : status}
    >
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="Cairn: files, tasks, documents and backups shared with your agents" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Cairn`}</title>
        <link rel="icon" type="image/svg+xml" href={assets.icon} />
        <link rel="stylesheet" href={assets.style} />
        <script type="module" src={assets.script} />
      </head>
      <body>{isRenewal ? <div id="page">{frame.children}</div> : <Body {...frame} />}</body>
    </html>
  );
}

function Body(frame: Frame): VNode {
  const { children, notice, csrf, member } = frame;
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header {...frame} />
      <main id="main">
        <div id="notices">{notice === undefined ? null : <NoticeBox notice={notice} csrf={csrf} />}</div>
        <div id="page">{children}</div>
      </main>
      <footer class="foot">
        <span>Cairn {version}</span>
        <a href="/help">Help</a>
      </footer>
      {member === undefined ? null : <Shortcuts />}
    </>
  );
}

function Header({ section, member, csrf }: Frame): VNode {
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href="/">
          <Stones />
          Cairn
        </a>
        {member === undefined ? (
          <nav class="top-account" aria-label="Account">
            <a href="/signin">Sign in</a>
          </nav>
        ) : (
          <form class="top-account" method="post" action="/signout">
            <CsrfField csrf={csrf} />
            <a class="top-search" href="/search">
              Search <kbd>/</kbd>
            </a>
            <a class="top-settings" href="/settings" aria-current={section === 'settings' ? 'page' : undefined}>
              Settings
            </a>
            <span class="top-email" title={member.email}>
              {member.email}
            </span>
            <button class="button quiet small sign-out" type="submit">
              Sign out
            </button>
          </form>
        )}
      </div>
      {member === undefined ? null : (
        <nav class="tabs" aria-label="Sections">
          {SECTIONS.filter((one) => member.isOperator || !('forOperator' in one)).map((one) => (
            <a
              key={one.id}
              class={'forOperator' in one ? 'for-operator' : undefined}
              href={one.path}
              aria-current={one.id === section ? 'page' : undefined}
            >
              {one.name}
            </a>
          ))}
        </nav>
      )}
    </header>
  );
}

function NoticeBox({ notice, csrf }: { readonly notice: Notice; readonly csrf: string }): VNode {
  const { text, tone = 'good', secrets = [], undo } = notice;
  // A notice with an undo is a toast at the edge, so that the page does not move.
  const place = undo === undefined ? '' : ' is-toast';
  return (
    <section class={`notice ${tone}${place}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <p>{text}</p>
      {secrets.map((secret) => (
        <Secret key={secret.label} {...secret} />
      ))}
      {undo === undefined ? null : (
        <form method="post" action={undo.action} data-swap>
          <CsrfField csrf={csrf} />
          {Object.entries(undo.fields ?? {}).map(([name, value]) => (
            <input key={name} type="hidden" name={name} value={value} />
          ))}
          <SubmitButton look="small">{undo.label}</SubmitButton>
        </form>
      )}
    </section>
  );
}

function Stones(): VNode {
  return (
    <svg class="stones" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">
      <ellipse cx="16" cy="26" rx="13" ry="4.5" />
      <ellipse cx="15" cy="17.5" rx="9" ry="3.9" />
      <ellipse cx="17" cy="10.2" rx="6" ry="3.2" />
      <ellipse cx="16" cy="4.4" rx="3.4" ry="2.3" />
    </svg>
  );
}

const SHORTCUTS = [
  ['Ctrl K', 'Go anywhere, act and search from one list'],
  ['/', 'Search everything'],
  ['n', 'New task'],
  ['f', 'Filter the board'],
  ['Ctrl S, Ctrl Enter', 'Save the form'],
  ['u', 'Undo'],
  ['g then h, t, v, d, a, s', 'Go to home, tasks, vaults, documents, activity, search'],
  ['Arrow keys', 'From card to card on the board'],
  ['Shift + arrow keys', 'Move a card'],
  ['x, Shift + x', 'Select a card, or all since the last one'],
  ['Enter', 'Open what is focused'],
  ['Esc', 'Close a menu or a notice, leave a field'],
  ['?', 'This list'],
] as const;

/** The keyboard shortcuts. Both the shortcuts and this dialog need script. */
function Shortcuts(): VNode {
  return (
    <dialog id="shortcuts" class="shortcuts" aria-labelledby="shortcuts-title">
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <dl>
        {SHORTCUTS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <SubmitButton look="small">Close</SubmitButton>
      </form>
    </dialog>
  );
}
