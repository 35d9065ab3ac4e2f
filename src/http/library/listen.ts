/** Wraps features of the HTTP library that its type declarations omit. */
import { closeListener, configure, EXCLUSIVE_PORT, type TemplatedApp, type us_listen_socket } from './uws.ts';

type Listen = (host: string, port: number, options: number, done: (socket: us_listen_socket | false) => void) => void;

// Hides the library's name and version in answers. A few answers of the library still show them
// (src/manual/security.md).
configure('silent');

/** Binds an address exclusively: by default the library would let two servers share it and split the clients. */
export function listenExclusively(app: TemplatedApp, host: string, port: number): us_listen_socket | undefined {
  let bound: us_listen_socket | undefined;
  (app.listen as unknown as Listen).call(app, host, port, EXCLUSIVE_PORT, (socket) => {
    if (socket !== false) bound = socket;
  });
  return bound;
}

/** Handle of an application. */
export type ChildDescriptor = unknown;

/** Undeclared methods of the library for accepting connections on behalf of other applications. */
interface Member {
  getDescriptor(): ChildDescriptor;
  addChildAppDescriptor(child: ChildDescriptor): void;
  removeChildAppDescriptor(child: ChildDescriptor): void;
}

/** Connects this application with others that share its connections. */
export class AppFamily {
  readonly #app: TemplatedApp;

  constructor(app: TemplatedApp) {
    this.#app = app;
  }

  /**
   * Returns a handle so that other applications can accept connections for this one. The application must have listened
   * before, or the library aborts the process; this method does so.
   */
  describe(): ChildDescriptor {
    const once = listenExclusively(this.#app, '127.0.0.1', 0);
    if (once === undefined) throw new Error('no port of this machine is free');
    closeListener(once);
    return this.#asMember.getDescriptor();
  }

  /** From now on, accepted connections go only to the children, in turn. */
  add(child: ChildDescriptor): void {
    this.#asMember.addChildAppDescriptor(child);
  }

  /** The child gets no further connections. */
  remove(child: ChildDescriptor): void {
    this.#asMember.removeChildAppDescriptor(child);
  }

  get #asMember(): Member {
    return this.#app as unknown as Member;
  }
}
