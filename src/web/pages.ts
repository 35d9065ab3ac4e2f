/** Handles requests for pages: identifies the visitor, checks forms, and turns the answer into a page. */
import { randomBytes } from 'node:crypto';
import type { ComponentChildren } from 'preact';
import type { BrowserSessions } from '../accounts/sessions.ts';
import type { BrowserMarks } from '../accounts/sign-in/browser-mark.ts';
import { auditSourceOf } from '../audit/note.ts';
import { type Fault, Refusal } from '../common/fault.ts';
import type { Principal } from '../common/principal.ts';
import { compressed } from '../http/reply/coding.ts';
import { NO_HEADERS, type Reply, type ReplyHeaders, withHeaders } from '../http/reply/reply.ts';
import type { Route, RouteRequest } from '../http/route/route.ts';
import { limits } from '../limits/service.ts';
import { turnNameOf } from '../pool/job-turns.ts';
import { isTimeZone } from '../time/zone.ts';
import type { AssetPaths } from './assets.ts';
import { markCookie, markCookieName, readCookie, readZone, sessionCookie, sessionCookieName } from './cookies.ts';
import { pageReply, seeOther } from './document.tsx';
import { faultPage, foreignFormPage, noPage } from './fault-page.tsx';
import type { Problem } from './fields.tsx';
import { HeldForms } from './forms/held-forms.ts';
import { isFromElsewhere, type OwnForms } from './forms/own-forms.ts';
import { SentForms } from './forms/sent-forms.ts';
import { formToken, masked } from './forms/token.ts';
import { readUpload, UPLOAD_TYPE, type Upload } from './forms/upload.ts';
import type { Section } from './layout.tsx';
import { addressOf, cameFrom, ownPath, signInPath } from './next-path.ts';
import type { Notice, Notices } from './notices.ts';
import { isMember, LIVE_HEADER, type LiveTopic, type MemberVisit, SHOWN_HEADER, type Visit } from './visit.ts';
import type { ZoneFormats } from './zone-format.ts';

export type { MemberVisit, Visit } from './visit.ts';

const ID_BYTES = 32;
const ID_SHAPE = /^[A-Za-z0-9_-]{43}$/;

export interface PagesOptions {
  /** The base URL of this service, when addressed as `host`. */
  readonly baseUrl: (host: string) => string;
  readonly sessions: BrowserSessions;
  readonly emailOf: (accountId: string) => string;
  /** True when the account is neither disabled nor deleted. */
  readonly isOpen: (accountId: string) => boolean;
  readonly isDisabled: (accountId: string) => boolean;
  readonly isOperator: (accountId: string) => boolean;
  /** True when the account may do nothing else before it has set up a second factor. */
  readonly mustSetUp: (accountId: string) => boolean;
  readonly assets: AssetPaths;
  readonly notices: Notices;
  readonly forms: OwnForms;
  readonly zones: ZoneFormats;
  /** Identifies the state of an account, for pages with live updates. */
  readonly markOf: (accountId: string) => string;
  /** True when browsers use TLS to reach this service. */
  readonly secure: boolean;
  readonly marks: BrowserMarks;
  /** True for the origins of this service's pages, when addressed as `host`. */
  readonly isOwnOrigin: (origin: string, host: string) => boolean;
  /** A keyed hash under the master key. */
  readonly keyedHash: (purpose: string, value: string) => string;
}

export interface View {
  readonly title: string;
  readonly section?: Section;
  /** The page refreshes when one of these topics changes. Default: never. */
  readonly live?: readonly LiveTopic[];
  /** The page is rendered again when its reader comes back to it. */
  readonly renews?: boolean;
  readonly body: ComponentChildren;
  /** A form is shown again because of it. */
  readonly problem?: Problem | undefined;
  /** Default: 200, or 422 with a problem. */
  readonly status?: number;
  readonly headers?: ReplyHeaders;
  /** It shows or carries a secret, so it is not compressed: its length would tell of it (BREACH). */
  readonly isSecret?: boolean;
}

interface FormOptions {
  readonly bytesMax?: number;
  /** It changes access to the account, so the password must be recently entered. */
  readonly fresh?: boolean;
  /** Runs each time it is sent, such as a download. */
  readonly repeats?: boolean;
}
/** Asks for the password again. */
export const CONFIRM_PATH = '/confirm';
/** Sets up two-factor sign-in. */
export const SECOND_FACTOR_PATH = '/settings/second-factor';
/** All that a member can do who must set up two-factor sign-in first. */
const PATHS_OF_SET_UP: ReadonlySet<string> = new Set([
  CONFIRM_PATH,
  SECOND_FACTOR_PATH,
  `${SECOND_FACTOR_PATH}/confirm`,
  '/signout',
]);

export type PageAnswer = Reply | Promise<Reply>;

const NO_BODY: Route['body'] = { kind: 'none' };
const SMALL_FORM: Route['body'] = { kind: 'form', bytesMax: limits.formBodyBytesMax };

export class Pages {
  readonly #options: PagesOptions;
  readonly #sent = new SentForms();
  readonly #held = new HeldForms();

  constructor(options: PagesOptions) {
    this.#options = options;
  }

  /** A public page. */
  open(path: string, handle: (visit: Visit | MemberVisit) => PageAnswer): Route {
    return this.#route('GET', path, handle);
  }

  /** A page for signed-in members; others are redirected to the sign-in page and back afterwards. */
  member(path: string, handle: (visit: MemberVisit) => PageAnswer): Route {
    const toSignIn = ({ request }: Visit) => seeOther(signInPath(ownPath(addressOf(request))));
    return this.#route('GET', path, forMembers(handle, toSignIn));
  }

  /** A page for operators; for other members it does not exist. */
  operator(path: string, handle: (visit: MemberVisit) => PageAnswer): Route {
    return this.member(path, forOperators(handle));
  }

  /** A form for operators; for other members it does not exist. */
  operatorForm(path: string, handle: (visit: MemberVisit, form: URLSearchParams) => PageAnswer): Route {
    return this.memberForm(path, forOperators(handle));
  }

  /** A form that anyone may send. */
  openForm(path: string, handle: (visit: Visit | MemberVisit, form: URLSearchParams) => PageAnswer): Route {
    return this.#route('POST', path, (visit) => {
      if (!this.#options.forms.isOwn(visit)) return this.show(visit, foreignFormPage());
      return this.#sent.answer(visit, () => handle(visit, visit.request.form));
    });
  }

  /** A form for signed-in members. */
  memberForm(
    path: string,
    handle: (visit: MemberVisit, form: URLSearchParams) => PageAnswer,
    { bytesMax = limits.formBodyBytesMax, fresh = false, repeats = false }: FormOptions = {},
  ): Route {
    const { forms, sessions } = this.#options;
    const answer = (visit: MemberVisit) => {
      if (!forms.isOwn(visit)) return this.#foreign(visit);
      if (fresh && !sessions.isFresh(visit.browserId)) {
        return this.#confirmFirst(visit, (later) => handle(later, later.request.form));
      }
      const run = () => handle(visit, visit.request.form);
      return repeats ? run() : this.#sent.answer(visit, run);
    };
    const signedOut = (visit: Visit) => this.#signedOut(visit, forms.keep(visit));
    return this.#route('POST', path, forMembers(answer, signedOut), { body: { kind: 'form', bytesMax }, fresh });
  }

  /** A form with files, for signed-in members. */
  memberUpload(path: string, handle: (visit: MemberVisit, upload: Upload) => PageAnswer): Route {
    const answer = async (visit: MemberVisit) => {
      const upload = await readUpload(visit.request);
      if (!this.#options.forms.isOwn(visit, upload.fields)) return this.show(visit, foreignFormPage());
      return handle(visit, upload);
    };
    const signedOut = (visit: Visit) => this.#signedOut(visit);
    const body = { kind: 'stream', bytesMax: limits.uploadFormBytesMax, mediaType: UPLOAD_TYPE } as const;
    return this.#route('POST', path, forMembers(answer, signedOut), { body });
  }

  /** The page of a view. It is compressed unless it shows a secret, or another site asked for it. */
  show(visit: Visit | MemberVisit, view: View): PageAnswer {
    const { assets, notices } = this.#options;
    const { request } = visit;
    const isRenewal = request.header(LIVE_HEADER) !== undefined;
    const isSecret = view.isSecret === true || this.freshKey(visit) !== undefined;
    const isAskedAgain = (request.header(SHOWN_HEADER) ?? request.path) !== request.path;
    // Only what is shown consumes the notice: HEAD shows nothing, and a live refresh keeps the visible notice.
    const isNoticed = !(request.isHead || isRenewal || isAskedAgain);
    const notice = isNoticed ? notices.take(visit.browserId) : undefined;
    const reply = pageReply(
      view.status ?? (view.problem === undefined ? 200 : 422),
      {
        title: view.title,
        section: view.section,
        assets,
        zone: visit.zone.name,
        member: isMember(visit) ? visit : undefined,
        live: view.live,
        renews: view.renews,
        csrf: visit.csrf,
        notice,
        isRenewal,
        children: view.body,
      },
      withHeaders(this.#newCookie(visit), view.headers ?? NO_HEADERS),
    );
    if (isSecret || notice?.secrets !== undefined || isFromElsewhere(request)) return reply;
    return compressed(reply, request.header('accept-encoding'), turnNameOf(request.caller));
  }

  /** The base URL of this service, as addressed by the request. */
  hubUrl({ request }: Visit): string {
    return this.#options.baseUrl(request.header('host') ?? '');
  }

  /** The MCP key to be shown in the notice of this page; undefined: none. */
  freshKey({ browserId }: Visit): string | undefined {
    return this.#options.notices.freshKey(browserId);
  }

  /** Redirects to a page of this service and leaves a notice for it. */
  go(visit: Visit, path: string, notice?: Notice): Reply {
    if (notice !== undefined) this.#options.notices.leave(visit.browserId, notice);
    return seeOther(path, this.#newCookie(visit));
  }

  /** Signs this browser in or out. It always gets a new id, which makes an id planted by an attacker useless. */
  goAs(path: string, sessionId: string | undefined, notice?: Notice): Reply {
    const { notices, secure } = this.#options;
    const id = sessionId ?? newId();
    if (notice !== undefined) notices.leave(id, notice);
    return seeOther(path, { 'Set-Cookie': sessionCookie(id, { secure, lasting: sessionId !== undefined }) });
  }

  #route(
    method: 'GET' | 'POST',
    path: string,
    handle: (visit: Visit | MemberVisit) => PageAnswer,
    { body = method === 'GET' ? NO_BODY : SMALL_FORM, fresh = false }: { body?: Route['body']; fresh?: boolean } = {},
  ): Route {
    return {
      method,
      path,
      access: { visitor: (header) => this.#principalOf(header), fresh },
      body,
      doc: 'page',
      refuse: (fault, header) => this.#refuse(fault, header),
      handle: async (request: RouteRequest, principal: Principal | undefined) => {
        const visit = this.#visit(request, principal);
        try {
          if (isMember(visit) && !PATHS_OF_SET_UP.has(path) && this.#options.mustSetUp(visit.accountId)) {
            return this.go(visit, SECOND_FACTOR_PATH);
          }
          return await handle(visit);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
          return this.show(visit, faultPage(error.fault, request.path));
        }
      },
    };
  }

  /** A refusal before the handler ran, in the frame for visitors. Who sent too much is still signed in, and sees so. */
  #refuse(fault: Fault, header: RouteRequest['header']): Reply {
    const { assets, zones, isOpen, secure } = this.#options;
    const { title, body, status, headers } = faultPage(fault);
    const accountId = fault.kind === 'body_too_large' ? this.#principalOf(header)?.accountId : undefined;
    const browserId = readCookie(header('cookie'), sessionCookieName(secure)) ?? '';
    const seen = accountId !== undefined && isOpen(accountId) ? this.#memberFrame(browserId, accountId) : { csrf: '' };
    return pageReply(status, { title, assets, zone: zones.find(undefined).name, ...seen, children: body }, headers);
  }

  /** What the frame of a page tells a member, and the token of its form. */
  #memberFrame(browserId: string, accountId: string) {
    const { emailOf, isOperator, markOf, keyedHash } = this.#options;
    return {
      csrf: masked(formToken(keyedHash, browserId, accountId)),
      member: {
        accountId,
        email: emailOf(accountId),
        isOperator: isOperator(accountId),
        liveMark: markOf(accountId),
      },
    };
  }

  #principalOf(header: RouteRequest['header']): Principal | undefined {
    const id = readCookie(header('cookie'), sessionCookieName(this.#options.secure));
    return id === undefined ? undefined : this.#options.sessions.find(id);
  }

  #visit(request: RouteRequest, principal: Principal | undefined): Visit | MemberVisit {
    const { secure, zones, keyedHash, isOpen, isDisabled } = this.#options;
    const cookies = request.header('cookie');
    const given = readCookie(cookies, sessionCookieName(secure));
    const told = readZone(cookies);
    const isNew = given === undefined || !ID_SHAPE.test(given);
    const browserId = isNew ? newId() : given;
    const visit: Visit = {
      request,
      browserId,
      isNew,
      csrf: masked(formToken(keyedHash, browserId)),
      zone: zones.find(told),
      isZoneTold: told !== undefined && isTimeZone(told),
      mark: readCookie(cookies, markCookieName(secure)),
      source: auditSourceOf(
        principal === undefined ? 'stranger' : 'user',
        request.address,
        request.header('user-agent'),
      ),
      isShut: principal !== undefined && isDisabled(principal.accountId),
    };
    if (principal === undefined || !isOpen(principal.accountId)) return visit;
    const { csrf, member } = this.#memberFrame(browserId, principal.accountId);
    return Object.assign(visit, { csrf, sessionId: principal.credentialId, ...member });
  }

  /** Returns the name of this browser if it has signed in with this email before; undefined: it has not. */
  knownBrowser({ mark }: Visit, email: string): string | undefined {
    return this.#options.marks.knownAs(mark, email);
  }

  /** The cookie to set: the id of a new browser, or the mark of a browser signed in for the first time. */
  #newCookie(visit: Visit | MemberVisit): ReplyHeaders {
    const { secure, marks } = this.#options;
    const { isNew, browserId, mark } = visit;
    if (isMember(visit) && this.knownBrowser(visit, visit.email) === undefined) {
      return { 'Set-Cookie': markCookie(marks.extend(mark, visit.email), secure) };
    }
    return isNew ? { 'Set-Cookie': sessionCookie(browserId, { secure, lasting: false }) } : {};
  }

  /** The session ended while the form was open: redirects to the draft of the text, or else back to the form's page. */
  #signedOut(visit: Visit, draft?: { readonly path: string }): Reply {
    const path = signInPath(draft?.path ?? cameFrom(visit.request, this.#options.isOwnOrigin) ?? '/');
    const text = draft === undefined ? 'Sign in and send it again.' : 'Your text is kept. Sign in to send it.';
    return this.go(visit, path, { text: `You were signed out. ${text}`, tone: 'bad' });
  }

  /** A form not made for this session. Text from an earlier session of the same account becomes a draft to confirm. */
  #foreign(visit: MemberVisit): PageAnswer {
    const draft = this.#options.forms.keep(visit);
    return draft?.accountId === visit.accountId ? seeOther(draft.path) : this.show(visit, foreignFormPage());
  }

  /** The password is needed again; `act` happens once it is confirmed. */
  #confirmFirst(visit: MemberVisit, act: (visit: MemberVisit) => PageAnswer): Reply {
    const next = cameFrom(visit.request, this.#options.isOwnOrigin) ?? '/settings';
    return this.go(visit, `${CONFIRM_PATH}?${new URLSearchParams({ next, held: this.#held.hold(visit, act) })}`);
  }

  /** Does what a form asked for before the password was confirmed. Undefined: it is not known any more. */
  resume(visit: MemberVisit, held: string): PageAnswer | undefined {
    return this.#held.take(visit, held)?.(visit);
  }
}

/** Lets members pass. A disabled account is refused; `signedOut` answers everybody else. */
function forMembers(handle: (visit: MemberVisit) => PageAnswer, signedOut: (visit: Visit) => Reply) {
  return (visit: Visit | MemberVisit): PageAnswer => {
    if (isMember(visit)) return handle(visit);
    if (visit.isShut) throw new Refusal({ kind: 'account_disabled' });
    return signedOut(visit);
  };
}

function forOperators<Rest extends unknown[]>(handle: (visit: MemberVisit, ...rest: Rest) => PageAnswer) {
  return (visit: MemberVisit, ...rest: Rest): PageAnswer => {
    if (!visit.isOperator) throw noPage();
    return handle(visit, ...rest);
  };
}

function newId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}
