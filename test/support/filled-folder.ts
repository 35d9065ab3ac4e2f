/** A data folder of a hub that was stopped, with blobs, files and tasks of two people. */
import { type Hub, startHub } from './hub.ts';
import { Ledger } from './ledger.ts';
import { Desk, writes } from './load.ts';
import { Person, type Place } from './person.ts';
import { temporaryFolder } from './temporary-folder.ts';

interface Filling {
  /** Random writes of each person. */
  readonly rounds?: number;
  /** Most bytes of one content. */
  readonly bytesMax?: number;
  /** Adds to the hub before the last, small commit. */
  readonly fill?: ((hub: Hub) => Promise<void>) | undefined;
}

export interface FilledFolder {
  readonly dataFolder: string;
  readonly people: readonly Person[];
  /** Where the people look for their hub. */
  readonly place: Place;
}

export async function filledFolder(
  random: () => number,
  { rounds = 40, bytesMax = 20_000, fill }: Filling = {},
): Promise<FilledFolder> {
  const dataFolder = temporaryFolder();
  const place: Place = { hub: await startHub({ dataFolder }) };
  const people = [await Person.arrive(place, new Ledger()), await Person.arrive(place, new Ledger())];
  for (const person of people) {
    const desk = new Desk(person, bytesMax);
    for (let round = 0; round < rounds; round += 1) await writes[Math.floor(random() * writes.length)]?.(desk);
  }
  await fill?.(place.hub);
  await people[0]?.tool('create_task', { content: 'the last one' });
  await place.hub.stop();
  return { dataFolder, people, place };
}
