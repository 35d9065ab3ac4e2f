/** Makes an answer close its connection. Pure. */
import { feedOf } from './feed.ts';
import { isSource, type Reply } from './reply.ts';

/**
 * Returns the same answer, closing the connection at its end. A body of known length is sent in chunks, because only
 * that can close a connection.
 */
export function closing(reply: Reply): Reply {
  const { body } = reply;
  if (body !== undefined && isSource(body) && body.bytesTotal > 0) {
    return { ...reply, body: feedOf([Promise.resolve(body)]) };
  }
  return reply.close === undefined ? { ...reply, close: 'after' } : reply;
}
