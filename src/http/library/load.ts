/** Checks that the HTTP library can be loaded; its binaries exist only for some versions of Node.js. */
import './settings.ts';
import { StartError } from '../../common/start-error.ts';

/** Loads the library. Throws StartError if it has no binary for this version of Node.js or this machine. */
export async function requireHttpLibrary(): Promise<void> {
  try {
    await import('uWebSockets.js');
  } catch (cause) {
    const { version, platform, arch } = process;
    throw new StartError(
      `the HTTP library has no binary for Node.js ${version} on ${platform} ${arch}: use Node.js 22 ` +
        '(or 20.19 or later in 20). If cairn was installed with another version of Node.js, install it again; or see "Node.js versions" in `cairn help operating`.',
      { cause },
    );
  }
}
