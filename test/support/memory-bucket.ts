/** A bucket in the memory of this process that keeps the condition of a creation: fast enough for ten thousand races. */
import { createServer, type IncomingMessage } from 'node:http';

export interface MemoryBucket {
  readonly endpoint: string;
  close(): void;
}

export async function startMemoryBucket(): Promise<MemoryBucket> {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://bucket');
    const body = await bodyOf(incoming);
    if (incoming.method === 'PUT') {
      const isTaken = incoming.headers['if-none-match'] === '*' && objects.has(url.pathname);
      if (!isTaken) objects.set(url.pathname, body);
      return outgoing.writeHead(isTaken ? 412 : 200).end();
    }
    if (incoming.method === 'DELETE') {
      objects.delete(url.pathname);
      return outgoing.writeHead(204).end();
    }
    if (url.searchParams.has('list-type')) return outgoing.end(page(url, [...objects.keys()]));
    const found = objects.get(url.pathname);
    return outgoing.writeHead(found === undefined ? 404 : 200).end(found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** One page of the names in a bucket, as `ListObjectsV2` answers. */
function page({ pathname, searchParams }: URL, paths: readonly string[]): string {
  const wanted = (name: string) => searchParams.get(name) ?? '';
  const names = paths
    .filter((path) => path.startsWith(pathname))
    .map((path) => path.slice(pathname.length))
    .filter((name) => name.startsWith(wanted('prefix')) && name > wanted('start-after'))
    .sort();
  const shown = names.slice(0, Number(searchParams.get('max-keys') ?? 1000));
  const keys = shown.map((name) => `<Contents><Key>${name}</Key></Contents>`).join('');
  return `<ListBucketResult><IsTruncated>${shown.length < names.length}</IsTruncated>${keys}</ListBucketResult>`;
}
