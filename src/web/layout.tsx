/** Renders the frame of every page: head, navigation, and the notice left by the previous page. */
import type { ComponentChildren, VNode } from 'preact';
import { version } from '../common/version.ts';
import type { AssetPaths } from './assets.ts';
import type { Topic } from './live/changes.ts';
import type { Notice } from './notices.ts';
import { CsrfField, Secret } from './ui.tsx';

const SECTIONS = [
  { id: 'home', path: '/', name: 'Home' },
  { id: 'tasks', path: '/tasks', name: 'Tasks' },
  { id: 'vaults', path: '/vaults', name: 'Vaults' },
  { id: 'documents', path: '/documents/docs', name: 'Documents' },
  { id: 'mirror', path: '/mirror', name: 'Mirror' },
  { id: 'settings', path: '/settings', name: 'Settings' },
  { id: 'accounts', path: '/accounts', name: 'Accounts', forOperator: true },
] as const;

export type Section = (typeof SECTIONS)[number]['id'];

export interface Frame {
  readonly title: string;
  readonly assets: AssetPaths;
  /** Time zone of the times on the page; the script compares it with the browser's zone. */
  readonly zone: string;
  readonly section?: Section | undefined;
  /** Email of the signed-in member; absent for visitors. */
  readonly email?: string | undefined;
  /** Shows the link to the accounts page. */
  readonly isOperator?: boolean;
  /** What the page depends on, and the state it shows. */
  readonly live?: readonly Topic[] | undefined;
  readonly liveMark?: string | undefined;
  readonly csrf: string;
  readonly notice?: Notice | undefined;
  readonly children: ComponentChildren;
}

export function Document(frame: Frame): VNode {
  const { title, assets, zone, children, notice, csrf, live, liveMark } = frame;
  return (
    <html lang="en" data-zone={zone} data-live={liveMark && live?.join(' ')} data-mark={live && liveMark}>
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
      <body>
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
        {frame.email === undefined ? null : <Shortcuts />}
      </body>
    </html>
  );
}

function Header({ section, email, isOperator, csrf }: Frame): VNode {
  return (
    <header class="top">
      <div class="top-row">
        <a class="brand" href="/">
          <Stones />
          Cairn
        </a>
        {email === undefined ? (
          <nav class="top-account" aria-label="Account">
            <a href="/signin">Sign in</a>
          </nav>
        ) : (
          <form class="top-account" method="post" action="/signout">
            <CsrfField csrf={csrf} />
            <a class="top-search" href="/search">
              Search <kbd>/</kbd>
            </a>
            <span class="top-email" title={email}>
              {email}
            </span>
            <button class="button quiet small sign-out" type="submit">
              Sign out
            </button>
          </form>
        )}
      </div>
      {email === undefined ? null : (
        <nav class="tabs" aria-label="Sections">
          {SECTIONS.filter((one) => isOperator === true || !('forOperator' in one)).map(({ id, path, name }) => (
            <a key={id} href={path} aria-current={id === section ? 'page' : undefined}>
              {name}
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
          <button class="button small" type="submit">
            {undo.label}
          </button>
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
  ['/', 'Search'],
  ['n', 'New task'],
  ['u', 'Undo'],
  ['g then h, t, v, d, s', 'Go to home, tasks, vaults, documents, search'],
  ['Arrow keys', 'From card to card on the board'],
  ['Shift + arrow keys', 'Move a card'],
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
        <button class="button small" type="submit">
          Close
        </button>
      </form>
    </dialog>
  );
}
