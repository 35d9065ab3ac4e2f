/** Looks up host names that strangers chose: a name with an address that is not public is refused (DNS rebinding). */
import { lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

/** A host has an address that is not public. */
export class NotPublic extends Error {}

/** For `request`: the connection goes to an address that was checked. Fails with NotPublic, also for a single address of many. */
export const publicLookup: LookupFunction = (host, options, done) => {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) {
      done(error ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
    } else if (!addresses.every(({ address }) => isPublicAddress(address))) {
      done(new NotPublic('an address that is not public'), '');
    } else if (options.all === true) {
      done(null, addresses);
    } else {
      done(null, first.address, first.family);
    }
  });
};
