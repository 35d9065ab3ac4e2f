/**
 * The page to authorize a client (OAuth 2.1, RFC 6749 section 4.1): shows the client, the destination of the answer,
 * and the requested access. The form contains the whole request and it is checked again, so nothing is stored.
 */
import type { VNode } from 'preact';
import { explain, Refusal } from '../../common/fault.ts';
import type { Reply } from '../../http/reply/reply.ts';
import type { Route } from '../../http/route/route.ts';
import type { OAuthClient } from '../../oauth/clients/clients.ts';
import { shownClientId } from '../../oauth/clients/sealed-client.ts';
import {
  type AuthorizationRequest,
  answerUri,
  clientIdOf,
  isResourceOf,
  type ReadRequest,
  type RedirectTarget,
  readRequest,
} from '../../oauth/code/request.ts';
import { paths } from '../../oauth/routes.ts';
import type { Capabilities } from '../capabilities.ts';
import { POLICY_WITHOUT_FORMS, seeOther } from '../document.tsx';
import type { MemberVisit, Pages, View } from '../pages.ts';
import { Fact, Form, Given, SubmitButton } from '../ui.tsx';

const PATH = paths.authorization;
const REQUEST_FIELD = 'request';

const SCOPES: Readonly<Record<string, string>> = {
  read: 'Read everything in your account',
  write: 'Create, change and delete data in your account',
  account: 'Read and change everything in your account',
  mcp: 'Get an MCP key with full access that works until you revoke it',
};

export interface AuthorizeOptions extends Pick<Capabilities, 'clients' | 'codes' | 'letters'> {
  readonly pages: Pages;
  readonly resources: readonly string[];
}

interface Asked {
  readonly client: OAuthClient;
  readonly read: ReadRequest;
  readonly issuer: string;
}

export function authorizeRoutes(options: AuthorizeOptions): Route[] {
  const { pages } = options;
  return [
    pages.member(PATH, async (visit) => {
      const query = new URLSearchParams(visit.request.search);
      const asked = await askedOf(options, visit, query);
      if ('view' in asked) return pages.show(visit, asked.view);
      if (!asked.read.ok) return leave(asked.read.target, asked.issuer, refusalOf(asked.read));
      return pages.show(visit, consentView(visit, asked.client, asked.read.request, visit.request.search));
    }),
    pages.memberForm(PATH, async (visit, form) => await decide(options, visit, form), { fresh: true }),
  ];
}

async function decide(options: AuthorizeOptions, visit: MemberVisit, form: URLSearchParams): Promise<Reply> {
  const { pages, clients, codes } = options;
  const asked = await askedOf(options, visit, new URLSearchParams(form.get(REQUEST_FIELD) ?? ''));
  if ('view' in asked) return pages.show(visit, asked.view);
  const { client, read, issuer } = asked;
  if (!read.ok) return leave(read.target, issuer, refusalOf(read));
  if (form.get('answer') !== 'authorize') {
    return leave(read.request, issuer, { error: 'access_denied', error_description: 'the user denied access' });
  }
  const scope = form.get('access') === 'read' ? 'read' : read.request.scope;
  // First the code, because an account may have only a few of them.
  const code = codes.make(visit.accountId, client, { ...read.request, scope }, visit.source);
  await clients.noteUsed(client.client_id);
  options.letters.newSignIn(
    visit.email,
    `An app (${client.client_name ?? shownClientId(client.client_id)})`,
    visit.source,
  );
  return leave(read.request, issuer, { code });
}

/** Reads the request of the client; or returns the error page when no answer may be sent to any address. */
async function askedOf(
  { pages, clients, resources }: AuthorizeOptions,
  visit: MemberVisit,
  query: URLSearchParams,
): Promise<Asked | { readonly view: View }> {
  const issuer = pages.hubUrl(visit);
  const isResource = (uri: string) => isResourceOf(issuer, resources, uri);
  try {
    const client = await clients.find(clientIdOf(query), { ...visit.request.caller, accountId: visit.accountId });
    return { client, read: readRequest(query, client, isResource), issuer };
  } catch (error) {
    if (!(error instanceof Refusal) || error.fault.kind !== 'oauth') throw error;
    return { view: refusedView(explain(error.fault)) };
  }
}

function refusalOf({ error, detail }: Extract<ReadRequest, { ok: false }>): Record<string, string> {
  return { error, error_description: detail };
}

function leave(target: RedirectTarget, issuer: string, answer: Readonly<Record<string, string>>): Reply {
  return seeOther(answerUri(target, issuer, answer));
}

function refusedView(detail: string): View {
  return {
    title: 'This app cannot sign in',
    status: 400,
    body: (
      <div class="narrow">
        <h1>This app cannot sign in</h1>
        <p class="lead">The app sent a sign-in request that this hub does not accept. Nothing was authorized.</p>
        <p>
          For the app’s developer: <Given>{detail}</Given>
        </p>
      </div>
    ),
  };
}

function consentView(visit: MemberVisit, client: OAuthClient, request: AuthorizationRequest, search: string): View {
  const scopes = request.scope.split(' ');
  const name = client.client_name ?? client.host ?? 'An app without a name';
  return {
    title: 'Authorize this app?',
    isSecret: true,
    // Browsers apply `form-action` to the redirect after a form too, and this one leads to the app.
    headers: { 'Content-Security-Policy': POLICY_WITHOUT_FORMS },
    body: (
      <div class="narrow wide">
        <h1>Authorize this app?</h1>
        <p class="lead">Only authorize it if you just started this sign-in yourself.</p>
        <dl class="facts-list">
          <Fact name="App">
            <Given>{name}</Given> <span class="meta">{originOf(client)}</span>
          </Fact>
          <Fact name="Sends you to">
            <Given>{destinationOf(request.redirectUri)}</Given>
          </Fact>
          <Fact name="Account">
            <Given>{visit.email}</Given>
          </Fact>
          <Fact name="Asks to">
            <ul>
              {scopes.map((one) => (
                <li key={one}>{SCOPES[one] ?? one}</li>
              ))}
            </ul>
          </Fact>
        </dl>
        <Form csrf={visit.csrf} action={PATH}>
          <input type="hidden" name={REQUEST_FIELD} value={search} />
          {request.scope === 'read' ? null : <AccessChoice />}
          <div class="actions">
            <SubmitButton look="primary" name="answer" value="authorize">
              Authorize
            </SubmitButton>
            <SubmitButton name="answer" value="deny">
              Deny
            </SubmitButton>
          </div>
        </Form>
      </div>
    ),
  };
}

function AccessChoice(): VNode {
  return (
    <fieldset class="choices">
      <legend>Access</legend>
      <label>
        <input type="radio" name="access" value="full" checked /> As requested
      </label>
      <label>
        <input type="radio" name="access" value="read" /> Read only
      </label>
    </fieldset>
  );
}

/** Who vouches for the name of a client. */
function originOf({ host, by_operator: isOfOperator }: OAuthClient): string {
  if (isOfOperator) return 'registered by the operator of this hub';
  return host === null ? 'self-reported, not verified' : `published by ${host}`;
}

/** The host of a redirect; for a custom scheme of an app, the scheme. */
function destinationOf(redirectUri: string): string {
  const url = new URL(redirectUri);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.host : `${url.protocol} (an app on this device)`;
}
