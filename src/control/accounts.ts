/** Runs the operator's commands on accounts: list them, control their access, set their quotas. */
import type { Accounts } from '../accounts/service.ts';
import type { AccountDirectory, AccountView } from '../accounts/standing/directory.ts';
import type { Standings } from '../accounts/standing/standings.ts';
import type { ControlRequest, ControlResult } from './protocol.ts';

export interface AccountControlTools {
  readonly accounts: Accounts;
  readonly standings: Standings;
  readonly directory: AccountDirectory;
}

type AccountCommand =
  | 'account.list'
  | 'account.show'
  | 'account.disable'
  | 'account.enable'
  | 'account.delete'
  | 'account.operator'
  | 'account.quota';

type AccountRequest = Extract<ControlRequest, { readonly command: AccountCommand }>;

export async function runAccountControl(tools: AccountControlTools, request: AccountRequest): Promise<ControlResult> {
  const { accounts, standings, directory } = tools;
  if (request.command === 'account.list') return directory.page({ after: request.after, search: request.search ?? '' });
  const accountId = accounts.idOfEmail(request.email);
  const view = viewOf(directory, accountId);
  switch (request.command) {
    case 'account.show':
      return view;
    case 'account.disable':
      await standings.disable(accountId);
      break;
    case 'account.enable':
      await standings.enable(accountId);
      break;
    case 'account.operator':
      await standings.change(accountId, { operator: request.operator });
      break;
    case 'account.quota': {
      const { quotas, keepsWriting } = request;
      await standings.change(accountId, {
        quotas: quotas as Record<string, number | null>,
        ...(keepsWriting === undefined ? {} : { keeps_writing: keepsWriting }),
      });
      break;
    }
    case 'account.delete':
      await standings.delete(accountId);
      return { deleted: view.email };
  }
  return viewOf(directory, accountId);
}

function viewOf(directory: AccountDirectory, accountId: string): AccountView {
  const view = directory.view(accountId);
  if (view === undefined) throw new Error('an email refers to an account that does not exist; run `cairn verify`');
  return view;
}
