/**
 * A log goes on with a restored hub. The first record of it has a new incarnation and says so; its rows are in the next
 * snapshot. Members that meet it make their data files again, from that snapshot. Pure.
 */
import { StartError } from '../../common/start-error.ts';
import type { RecordHead } from '../frame.ts';

/** Written into the data folder by a restore that the log is to go on with. */
export interface BeginMark {
  /** The incarnation of the log when it was restored. */
  readonly from: string;
  /** The incarnation of the restored hub. */
  readonly begins: string;
}

/** Throws StartError when the log has gone on with another hub than the one that was restored. */
export function checkBegins({ from, begins }: BeginMark, { position, incarnation }: RecordHead): void {
  if (incarnation === from || incarnation === begins) return;
  throw new StartError(
    `The log has gone on with another restored hub at record ${position}. Restore this one again, into an empty CAIRN_DATA.`,
  );
}

/** The log goes on with a restored hub: the data file of this member is of the history before. */
export class BegunAgain extends Error {
  override readonly name = 'BegunAgain';
  readonly position: number;

  constructor({ position, member }: RecordHead) {
    super(`${member} has restored the hub at record ${position} of the log`);
    this.position = position;
  }
}

/** The log has begun again without a restore that says so. */
export class OtherIncarnation extends Error {
  override readonly name = 'OtherIncarnation';

  constructor({ position, incarnation }: RecordHead) {
    super(
      `the log has begun again at record ${position} (incarnation ${incarnation}); move the data folder of this member away and start it again: it joins with an empty one`,
    );
  }
}
