/** The states of a member, and what each means to a person. */
export type MemberState =
  | 'joining'
  | 'catching up'
  | 'following'
  | 'taking over'
  | 'owning'
  | 'handing over'
  | 'unsure'
  | 'apart'
  | 'no room';

export const STATE_SENTENCES: Readonly<Record<MemberState, string>> = {
  joining: 'this member is reading the log for the first time',
  'catching up': 'this member is applying records of the log',
  following: 'this member follows; another one serves',
  'taking over': 'this member is taking over',
  owning: 'this member serves',
  'handing over': 'this member is handing over',
  unsure: 'the log has not said whether it has the newest record',
  apart: 'the log cannot be reached',
  'no room': 'the disk of this member is full or failed: free space or check it, and the member goes on',
};
