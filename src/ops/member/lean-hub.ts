/** What a member serves while it does not own the log: its health, the metrics, and the control socket. */
import { Refusal } from '../../common/fault.ts';
import type { LogSink } from '../../common/log.ts';
import { commit, version } from '../../common/version.ts';
import { refuseControl } from '../../compose/control-answers.ts';
import { Doors } from '../../compose/listeners.ts';
import { notReady } from '../../compose/member/ownership.ts';
import { type Config, isSecure } from '../../config.ts';
import { isMemberRequest, runMemberControl } from '../../control/member.ts';
import { type ControlAnswer, controlRequest, runningSettings } from '../../control/protocol.ts';
import { Admission } from '../../http/checks/admission.ts';
import { Rates } from '../../http/checks/rates.ts';
import { RequestLog } from '../../http/measure/request-log.ts';
import { Traffic } from '../../http/measure/traffic.ts';
import { createAddressResolver } from '../../http/request/client-address.ts';
import { healthRoutes, type MemberFigures, type MemberHealth, type MemberTools } from '../../http/route/health.ts';
import { limits } from '../../limits/service.ts';
import { metricsRoutes } from '../metrics/routes.ts';
import { connectionsThatFit } from '../open-files.ts';

interface LeanHubOptions {
  readonly config: Config;
  readonly sink: LogSink;
  readonly health: () => MemberHealth;
  readonly figures: () => MemberFigures;
}

/** Opens the ports. Throws StartError when an address is in use. */
export async function openLeanDoors(options: LeanHubOptions): Promise<Doors> {
  const { config, sink, health, figures } = options;
  const { log, access } = sink;
  const state = () => health().message;
  const { connectionsMax, streamsMax, inflightBytesMax, slowMs, trustedProxies } = config;
  const admission = new Admission({
    connectionsMax: connectionsThatFit(connectionsMax, log),
    streamsMax,
    inflightBytesMax,
    loopDelayMsMax: 0,
    loopDelayMs: () => 0,
  });
  const rates = new Rates(config, () => performance.now());
  const metrics = await metricsRoutes({ ...config, rates }, async () =>
    (await import('../metrics/member.ts')).openMemberMetrics(figures),
  );
  const shared = {
    clientAddress: createAddressResolver(trustedProxies),
    rates,
    traffic: new Traffic(),
    requestLog: new RequestLog({ log, access, slowMs }),
    parseJson: () => Promise.reject(new Refusal({ kind: 'internal' })),
    log,
    isSecure: isSecure(config),
    mayServe: () => ({ kind: 'not_owner', state: state(), retryAfterSeconds: limits.retryAfterSeconds }) as const,
  };
  return Doors.open(config, shared, admission, {
    service: [
      ...healthRoutes({ version, commit, ready: () => Promise.resolve(notReady(state())), member: health }),
      ...metrics.guarded,
    ],
    metrics: metrics.open,
  });
}

/** For the operator of this machine: that a member follows is no trouble, that it cannot is one. */
async function checksOf(tools: MemberTools, { state, message }: MemberHealth) {
  const { checks } = notReady(message);
  if (state === 'no room') return checks.map((check) => ({ ...check, name: 'no_room' }));
  if (state !== 'apart') return checks;
  const { why } = await tools.report();
  const told = `${message} (${why}). Look at its store, and at the network and the clock of this machine`;
  return checks.map((check) => ({
    ...check,
    name: 'log_away',
    message: `${told}. The member tries again automatically.`,
  }));
}

/** Answers a line on the control socket of a member that does not serve. */
export async function answerLean(
  tools: MemberTools,
  { health, given: settings }: { readonly health: () => MemberHealth; readonly given: Config['given'] },
  line: string,
): Promise<string> {
  const { operator_user: _user, ...given } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const { data: request } = controlRequest.safeParse(given);
  try {
    if (request !== undefined && isMemberRequest(request)) {
      const answer: ControlAnswer = { ok: true, result: await runMemberControl(tools, request) };
      return JSON.stringify(answer);
    }
    if (request?.command === 'settings') {
      const answer: ControlAnswer = { ok: true, result: runningSettings(settings) };
      return JSON.stringify(answer);
    }
    if (request?.command === 'health') {
      const answer: ControlAnswer = {
        ok: true,
        result: { status: 'not_ready', checks: await checksOf(tools, health()) },
      };
      return JSON.stringify(answer);
    }
  } catch (error) {
    if (error instanceof Refusal) return refuseControl(error.message);
    throw error;
  }
  const { owner, message } = health();
  return refuseControl(
    `${message}; run the command on the member that owns the log${owner === null ? '' : `: ${owner}`}`,
  );
}
