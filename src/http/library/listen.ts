/** Owns what the HTTP library can do and its type declarations leave out. */
import './settings.ts';
import type { HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import * as library from 'uWebSockets.js';
import { us_listen_socket_close } from 'uWebSockets.js';

type Listen = (host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void) => void;
const { LIBUS_LISTEN_EXCLUSIVE_PORT, _cfg: configure } = library as unknown as {
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  readonly _cfg: (setting: string) => void;
};

// Answers then do not name the library and its version. The few that it gives on its own still do (src/manual/security.md).
configure('silent');

/** Binds an address that no other process may share; by default the library would let two servers split its clients. */
export function listenExclusively(app: TemplatedApp, host: string, port: number): us_listen_socket | undefined {
  let bound: us_listen_socket | undefined;
  (app.listen as unknown as Listen).call(app, host, port, LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
    if (socket !== false) bound = socket;
  });
  return bound;
}

/** One request's connection, as the library has it. */
export type Connection = HttpResponse;

/** An application of any thread, as another one knows it. */
export type ChildDescriptor = unknown;

/** What the library has for applications that accept for others. */
interface Member {
  getDescriptor(): ChildDescriptor;
  addChildAppDescriptor(child: ChildDescriptor): void;
  removeChildAppDescriptor(child: ChildDescriptor): void;
}

/** An application among those of other threads. */
export class AppFamily {
  readonly #app: TemplatedApp;

  constructor(app: TemplatedApp) {
    this.#app = app;
  }

  /** Makes it one that others accept for. It must have listened before, or the library ends the process. */
  describe(): ChildDescriptor {
    const once = listenExclusively(this.#app, '127.0.0.1', 0);
    if (once === undefined) throw new Error('no port of this machine is free');
    us_listen_socket_close(once);
    return this.#asMember.getDescriptor();
  }

  /** From now on the connections that it accepts go to its children, each in its turn, and to none else. */
  add(child: ChildDescriptor): void {
    this.#asMember.addChildAppDescriptor(child);
  }

  /** Must be called when the child's thread ends, which the library does not learn of. */
  remove(child: ChildDescriptor): void {
    this.#asMember.removeChildAppDescriptor(child);
  }

  get #asMember(): Member {
    return this.#app as unknown as Member;
  }
}
