/** Owns how an answer ends its connection. Pure. */
import { feedOf } from './feed.ts';
import { isSource, type Reply } from './reply.ts';

/** The same answer, after which the connection is closed. One of known length goes in chunks: that can end a connection. */
export function closing(reply: Reply): Reply {
  const { body } = reply;
  if (body !== undefined && isSource(body) && body.bytesTotal > 0) {
    return { ...reply, body: feedOf([Promise.resolve(body)]) };
  }
  return reply.close === undefined ? { ...reply, close: 'after' } : reply;
}
