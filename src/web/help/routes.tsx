/** Shows the manual in the browser, with a search and the address of this hub filled in. Public; needs no script. */
import type { VNode } from 'preact';
import { Refusal } from '../../common/fault.ts';
import { isTopic, readTopic, type Topic, topicNames, withAddress } from '../../common/manual.ts';
import type { Route } from '../../http/route/route.ts';
import { limits } from '../../limits/service.ts';
import { CutSearch, searchWords } from '../fields.tsx';
import type { Pages } from '../pages.ts';
import { HEADING_ID } from '../rendering/links.ts';
import { Prose, type RenderedHtml, type Renderer } from '../rendering/renderer.tsx';
import { ScrollingText, SubmitButton } from '../ui.tsx';
import { type Found, openSearch, sectionsOf } from './search.ts';

export interface HelpOptions {
  readonly pages: Pages;
  readonly renderer: Renderer;
}

/** Maximum of cached rendered topics, one for each address filled in. Callers can invent addresses. */
const KEPT_MAX = 100;
/** A page with so many sections begins with a list of them. */
const LISTED_MIN = 6;
/** The owner of these jobs in the pool: all readers of the manual share one queue. */
const READERS = 'help';

export function helpRoutes({ pages, renderer }: HelpOptions): Route[] {
  const topics = topicNames.map(readTopic);
  const search = openSearch(topics);
  const kept = new Map<string, RenderedHtml>();
  const rendered = async (topic: Topic, hub: string) => {
    const name = `${topic.name} ${hub}`;
    const found = kept.get(name) ?? (await renderer.manualText(pageText(topic, hub), READERS));
    if (found === undefined) return undefined;
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(name, found);
    return found;
  };
  return [
    pages.open('/help', (visit) => {
      const { query } = visit.request;
      const words = searchWords(query, limits.searchCharsMax);
      return pages.show(visit, {
        title: words === '' ? 'Help' : `Help: ${words}`,
        body: (
          <>
            <CutSearch query={query} charsMax={limits.searchCharsMax} />
            <Contents topics={topics} words={words} found={words === '' ? undefined : search(words)} />
          </>
        ),
      });
    }),
    pages.open('/help/:topic', async (visit) => {
      const topic = topics.find(({ name }) => name === visit.request.params['topic']);
      if (topic === undefined) throw new Refusal({ kind: 'not_found', what: 'there is no such topic; see /help' });
      const hub = pages.hubUrl(visit);
      const body = <Page topic={topic} hub={hub} rendered={await rendered(topic, hub)} />;
      return pages.show(visit, { title: topic.title, body });
    }),
  ];
}

function Contents({ topics, words, found }: ContentsProps): VNode {
  return (
    <>
      <h1>Help</h1>
      <SearchForm words={words} />
      {found === undefined ? (
        <ul class="topics">
          {topics.map((topic) => (
            <li key={topic.name}>
              <a href={`/help/${topic.name}`}>{topic.title}</a>
              <p class="hint">{headingsOf(topic).join(' · ')}</p>
            </li>
          ))}
        </ul>
      ) : (
        <Results words={words} found={found} />
      )}
    </>
  );
}

interface ContentsProps {
  readonly topics: readonly Topic[];
  readonly words: string;
  readonly found: readonly Found[] | undefined;
}

function Results({ words, found }: { readonly words: string; readonly found: readonly Found[] }): VNode {
  const count = found.length === 1 ? '1 section contains' : `${found.length} sections contain`;
  return (
    <>
      <p role="status">
        {found.length === 0 ? `No section contains “${words}”. Try fewer words.` : `${count} “${words}”.`}
      </p>
      <ul class="topics">
        {found.map(({ path, topic, heading, excerpt }) => (
          <li key={path}>
            <a href={path}>{heading === topic ? topic : `${topic}: ${heading}`}</a>
            <p class="hint">{excerpt}</p>
          </li>
        ))}
      </ul>
      <p>
        <a href="/help">All topics</a>
      </p>
    </>
  );
}

function SearchForm({ words }: { readonly words: string }): VNode {
  return (
    <search>
      <form method="get" action="/help" class="find manual-search">
        <label class="sr-only" for="help-q">
          Search the manual
        </label>
        <input class="find-words" id="help-q" type="search" name="q" value={words} placeholder="Search the manual" />
        <SubmitButton>Search</SubmitButton>
      </form>
    </search>
  );
}

function Page({ topic, hub, rendered }: PageProps): VNode {
  return (
    <>
      <p>
        <a href="/help">All topics</a>
      </p>
      <h1>{topic.title}</h1>
      <SearchForm words="" />
      <OnThisPage topic={topic} />
      {topic.text.includes('CAIRN_SERVER') ? (
        <p class="hint">
          On this hub: <code>{`export CAIRN_SERVER=${hub}`}</code>
        </p>
      ) : null}
      {rendered === undefined ? (
        <ScrollingText label="Text of the topic">{topic.text}</ScrollingText>
      ) : (
        <Prose rendered={rendered} />
      )}
    </>
  );
}

interface PageProps {
  readonly topic: Topic;
  readonly hub: string;
  /** Undefined: rendering failed, so the source is shown. */
  readonly rendered: RenderedHtml | undefined;
}

/** The topic without its title, with the address of the hub, and with links to other topics pointing to this hub. */
function pageText({ text }: Topic, hub: string): string {
  const body = withAddress(text.replace(/^# .+\n/, ''), hub);
  return body.replace(/\]\(([a-z]+)\.md(#[\w-]+)?\)/g, (whole, name: string, anchor: string | undefined) => {
    const to = anchor === undefined ? '' : `#${HEADING_ID}${anchor.slice(1)}`;
    return isTopic(name) ? `](${hub}/help/${name}${to})` : whole;
  });
}

const headed = (topic: Topic) => sectionsOf(topic).slice(1);

const headingsOf = (topic: Topic): string[] => headed(topic).map(({ heading }) => heading);

function OnThisPage({ topic }: { readonly topic: Topic }): VNode | null {
  const sections = headed(topic);
  if (sections.length < LISTED_MIN) return null;
  return (
    <nav aria-label="On this page" class="on-this-page">
      <ul>
        {sections.map(({ path, heading }) => (
          <li key={path}>
            <a href={path.slice(path.indexOf('#'))}>{heading}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
