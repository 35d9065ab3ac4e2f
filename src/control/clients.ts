/** Runs the operator's commands on OAuth clients. */
import type { OperatorClients } from '../oauth/clients/operator-clients.ts';
import type { ControlRequest, ControlResult } from './protocol.ts';

type ClientCommand = 'client.add' | 'client.list' | 'client.remove';

type ClientRequest = Extract<ControlRequest, { readonly command: ClientCommand }>;

export async function runClientControl(clients: OperatorClients, request: ClientRequest): Promise<ControlResult> {
  switch (request.command) {
    case 'client.add':
      return await clients.add(request);
    case 'client.list':
      return { clients: clients.list() };
    case 'client.remove':
      return { removed: request.clientId, sign_ins_ended: await clients.remove(request.clientId) };
  }
}
