/** Renders the instructions to connect an agent, with a newly made key filled in. */
import type { VNode } from 'preact';
import { type SetupHub, type SetupStep, setupSteps } from '../../accounts/setup-guide.ts';
import { Copyable } from '../ui.tsx';

interface ConnectAgentProps {
  readonly hub: SetupHub;
  /** A key made just now and shown on this page; undefined: a placeholder is shown. */
  readonly freshKey: string | undefined;
}

export function ConnectAgent({ hub, freshKey }: ConnectAgentProps): VNode {
  return (
    <section class="panel" aria-labelledby="connect">
      <h2 id="connect">Connect an agent</h2>
      <Lead hub={hub} freshKey={freshKey} />
      {setupSteps(hub, undefined, freshKey).map((step, index) => (
        <Step key={step.client} step={step} isOpen={index === 0} />
      ))}
    </section>
  );
}

function Lead({ hub, freshKey }: ConnectAgentProps): VNode {
  if (freshKey !== undefined)
    return <p class="lead">Your new key is filled in. It disappears when you leave this page.</p>;
  const key = (
    <>
      create a key in the <a href="/settings">settings</a> and put it in place of <code>{'<MCP key>'}</code>
    </>
  );
  if (!hub.offersSignIn) return <p class="lead">Paste one of these: {key}.</p>;
  return <p class="lead">Paste one of these, then sign in with your browser when the client asks. Or {key}.</p>;
}

function Step({ step, isOpen }: { readonly step: SetupStep; readonly isOpen: boolean }): VNode {
  return (
    <details class="more" open={isOpen}>
      <summary>
        {step.title} <span class="meta">{step.where}</span>
      </summary>
      <Copyable value={step.paste} label={`for ${step.title}`} />
      {step.with_key === undefined ? null : (
        <>
          <p class="hint">Or with a key, {step.with_key.where}:</p>
          <Copyable value={step.with_key.paste} label={`for ${step.title}, with a key`} />
        </>
      )}
    </details>
  );
}
