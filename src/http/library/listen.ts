/** Owns what the HTTP library can do and its type declarations leave out. */
import './settings.ts';
import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import * as library from 'uWebSockets.js';

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
