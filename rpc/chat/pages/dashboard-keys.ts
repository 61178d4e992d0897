import { LABEL_CHARS_MAX } from '../../../marketplace/chat/keys/key-record.ts'
import { EXPIRY_DAYS_MAX, KEY_RPM_MAX, KEY_TPD_MAX } from '../../../marketplace/chat/keys/key-wish.ts'
import { type ChatKey, type KeyUsage, OPERATOR, type OwnerBounds } from '../../../marketplace/chat/keys/keys.ts'
import { UNSEEN } from '../../discovery/plain-text.ts'
import { counted, figure, grouped, unknownText } from '../../web/figures.ts'
import { type Html, html, NOTHING } from '../../web/html.ts'
import type { ProviderStanding } from '../dashboard/desk.ts'
import {
  type DashboardFrame,
  dashboardPage,
  type FormTrouble,
  fieldMarkup,
  hidden,
  troubleMarkup,
} from './dashboard-frame.ts'

/** What the page with the keys of an owner shows. */
export interface KeysFacts {
  readonly owner: string
  /** Newest first. */
  readonly keys: readonly ChatKey[]
  readonly keyCount: number
  readonly liveCount: number
  /** Counted from 1. */
  readonly page: number
  readonly pages: number
  readonly usedToday: KeyUsage
  readonly bounds: OwnerBounds
  readonly turn: string
  /** Null unless the owner is the operator. */
  readonly providers: readonly ProviderStanding[] | null
  /** Fields of a refused form. */
  readonly sent?: Readonly<Record<string, string | undefined>>
  readonly trouble?: FormTrouble
}

/** Bounds of the list of providers, and of each text in it. */
const PROVIDERS_MAX = 100
const WORDS_CHARS_MAX = 400

/** `/dashboard` for a signed-in user. */
export function keysPage(frame: DashboardFrame, facts: KeysFacts): string {
  const { owner, keyCount, trouble } = facts
  const isOperator = owner === OPERATOR
  return dashboardPage(
    frame,
    'API keys',
    html`<header><h1>API keys</h1>
<p class="lede">${isOperator ? 'Signed in as the operator: keys of all owners are here.' : html`Signed in as <code>${owner}</code>`}</p>
${ownerFacts(facts)}
<form class="line" method="post" action="/dashboard/sign-out">${hidden(frame)}<button class="quiet">Sign out</button></form></header>
${troubleMarkup(trouble)}
<section><h2>New key</h2>${newKeyForm(frame, facts)}</section>
<section><h2>${counted(keyCount, 'key')}</h2>${keyCount === 0 ? html`<p>There is none yet.</p>` : listMarkup(facts)}</section>
${providersMarkup(facts)}
<section><h2>How to use one</h2>
<pre><code>curl ${frame.baseUrl}/api/v1/chat/completions -H 'authorization: Bearer fk-…' -H 'content-type: application/json' -d '{"model":"model-1","messages":[{"role":"user","content":"Hello"}]}'</code></pre></section>`,
  )
}

function ownerFacts({ usedToday, bounds, liveCount, owner }: KeysFacts): Html {
  const tokens = usedToday.promptTokens + usedToday.completionTokens
  const isOperator = owner === OPERATOR
  const [rpm, tpd] = [grouped(String(bounds.rpm)), grouped(String(bounds.tpd))]
  return html`<dl class="facts">${[
    figure(
      'Chats today',
      grouped(String(usedToday.requests)),
      isOperator ? `with your own keys; ${rpm} a minute for each` : `with all of your keys; ${rpm} a minute at most`,
    ),
    figure(
      'Tokens today',
      grouped(String(tokens)),
      isOperator ? `${tpd} a day (UTC) for each key` : `of ${tpd} a day (UTC)`,
    ),
    figure('Keys in use', `${liveCount} of ${bounds.keys}`, 'revoked and expired ones do not count'),
    figure('At once', String(bounds.concurrent), isOperator ? 'chats with one key' : 'chats with all of your keys'),
  ]}</dl>`
}

function newKeyForm(frame: DashboardFrame, { turn, sent = {}, trouble, bounds }: KeysFacts): Html {
  return html`<form class="plain" method="post" action="/dashboard/keys">${hidden(frame)}<input type="hidden" name="turn" value="${turn}">
${fieldMarkup({ name: 'label', label: 'Name', hint: 'What it is for, so that you know it again.', value: sent.label ?? '', more: html` required maxlength="${LABEL_CHARS_MAX}" autocomplete="off"` }, trouble)}
<div class="trio">${[
    ...limitFields({ rpm: sent.rpm ?? '', tpd: sent.tpd ?? '' }, bounds, trouble),
    fieldMarkup(
      {
        name: 'days',
        label: 'Days until it ends',
        type: 'number',
        hint: 'Empty: never.',
        value: sent.days ?? '',
        more: html` min="1" max="${EXPIRY_DAYS_MAX}" step="1"`,
      },
      trouble,
    ),
  ]}</div>
<button>Make the key</button></form>`
}

/** An empty field stands for the owner's own bound. */
export function limitFields(
  { rpm, tpd }: { readonly rpm: string; readonly tpd: string },
  bounds: OwnerBounds,
  trouble: FormTrouble | undefined,
): readonly Html[] {
  const hint = (max: number): string => `Empty: ${grouped(String(max))}.`
  const rpmMore = html` min="1" max="${KEY_RPM_MAX}" step="1"`
  const tpdMore = html` min="1" max="${KEY_TPD_MAX}" step="1"`
  return [
    fieldMarkup(
      { name: 'rpm', label: 'Chats a minute', type: 'number', hint: hint(bounds.rpm), value: rpm, more: rpmMore },
      trouble,
    ),
    fieldMarkup(
      { name: 'tpd', label: 'Tokens a day', type: 'number', hint: hint(bounds.tpd), value: tpd, more: tpdMore },
      trouble,
    ),
  ]
}

const HEADS = html`<div class="heads" aria-hidden="true"><span>Key</span><div><span>State</span><span>Last used</span><span>Today</span><span>Tokens today</span></div></div>`

function listMarkup({ keys, page, pages, owner, bounds }: KeysFacts): Html {
  const link = (to: number, name: string): Html => html`<a href="/dashboard?page=${to}">${name}</a>`
  const pager = html`<nav class="pager" aria-label="Pages">${page > 1 ? link(page - 1, 'Newer') : NOTHING}<span class="soft">Page ${page} of ${pages}</span>${page < pages ? link(page + 1, 'Older') : NOTHING}</nav>`
  return html`${HEADS}<ul class="rows">${keys.map((key) => rowMarkup(key, bounds, owner))}</ul>${pages > 1 ? pager : NOTHING}`
}

function providersMarkup({ providers }: KeysFacts): Html {
  if (providers === null || providers.length === 0) return NOTHING
  // Providers with trouble come first, so that a cut leaves out the others.
  const rows = providers.toSorted((a, b) => rank(a) - rank(b)).slice(0, PROVIDERS_MAX)
  return html`<section><h2>${counted(providers.length, 'provider')}</h2>
<p>What went wrong last is in words of the provider. Callers are told only what kind of trouble it is.</p>
<ul class="rows">${rows.map(providerMarkup)}</ul></section>`
}

function rank({ usable, trouble }: ProviderStanding): number {
  if (!usable) return 0
  return trouble === null ? 2 : 1
}

function providerMarkup({ what, name, usable, trouble }: ProviderStanding): Html {
  const state = usable
    ? html`<span class="state">can be asked</span>`
    : html`<span class="state off">cannot be asked</span>`
  return html`<li class="row">
<div><h3>${inSight(name)}</h3><p class="id">${inSight(what)} · ${state}</p></div>
<p>${trouble === null ? unknownText('no trouble') : html`<bdi>${inSight(trouble)}</bdi>`}</p></li>`
}

/** Foreign text, made safe to show and cut. */
function inSight(text: string): string {
  const seen = text.replace(UNSEEN, '?')
  return seen.length <= WORDS_CHARS_MAX ? seen : `${seen.slice(0, WORDS_CHARS_MAX)}…`
}

function rowMarkup(key: ChatKey, bounds: OwnerBounds, owner: string): Html {
  const { id, label, usedToday, usedInAll, lastUsedAtMs, limits } = key
  const whose = owner === OPERATOR && key.owner !== OPERATOR ? html` · ${key.owner}` : NOTHING
  const today = tokensOf(usedToday)
  const tpd = Math.min(limits.tpd ?? bounds.tpd, bounds.tpd)
  return html`<li class="row">
<div><h3><a href="/dashboard/keys/${id}">${label}</a></h3>
<p class="id"><code>fk-${id}…</code>${whose}</p>
<p class="id">made ${dateText(key.createdAtMs)}${key.expiresAtMs === null ? '' : `, ends ${dateText(key.expiresAtMs)}`}; in all ${counted(usedInAll.requests, 'chat')} and ${counted(tokensOf(usedInAll), 'token')}</p></div>
<dl class="figures">
<div><dt>State</dt><dd>${keyState(key)}</dd></div>
<div><dt>Last used</dt><dd>${lastUsedAtMs === null ? unknownText('never') : timeText(lastUsedAtMs)}</dd></div>
${figure('Today', grouped(String(usedToday.requests)), `${limits.rpm === null ? 'no limit of its own' : `${grouped(String(limits.rpm))} a minute`}`)}
${figure('Tokens today', grouped(String(today)), `of ${grouped(String(tpd))}`)}
</dl></li>`
}

/** State of a key as a mark. */
export function keyState({ state }: ChatKey): Html {
  return state === 'live' ? html`<span class="state">live</span>` : html`<span class="state off">${state}</span>`
}

/** Tokens of prompts and answers together. */
export function tokensOf({ promptTokens, completionTokens }: KeyUsage): number {
  return promptTokens + completionTokens
}

/** A day in UTC. */
export function dateText(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

function timeText(timeMs: number): Html {
  const iso = new Date(timeMs).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)} <small>${iso.slice(11, 16)} UTC</small></time>`
}
