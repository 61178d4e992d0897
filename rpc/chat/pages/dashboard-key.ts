import { LABEL_CHARS_MAX } from '../../../marketplace/chat/keys/key-record.ts'
import type { ChatKey, OwnerBounds } from '../../../marketplace/chat/keys/keys.ts'
import { counted, figure, grouped } from '../../web/figures.ts'
import { type Html, html, NOTHING } from '../../web/html.ts'
import {
  type DashboardFrame,
  dashboardPage,
  type FormTrouble,
  fieldMarkup,
  hidden,
  troubleMarkup,
  wrongMarkup,
} from './dashboard-frame.ts'
import { dateText, keyState, limitFields, tokensOf } from './dashboard-keys.ts'

/** The only page that ever shows a key. */
export function madePage(frame: DashboardFrame, { label, id }: ChatKey, secret: string): string {
  return dashboardPage(
    frame,
    'New key',
    html`<header><p class="crumbs"><a href="/dashboard">API keys</a></p><h1>${label}</h1>
<p class="lede">This is the key. It is shown this once: the node keeps only a seal of it, by which it knows it again.</p></header>
<pre class="secret more" tabindex="0" aria-label="The key"><code id="secret">${secret}</code></pre>
<p class="more">Put it where your program reads its secrets. A program that has it chats in your name: end it at once if it gets lost.</p>
<p class="more"><a href="/dashboard">I have it</a> · <a href="/dashboard/keys/${id}">Name and limits</a></p>`,
  )
}

/** What the page of a key shows. */
export interface KeyFacts {
  readonly key: ChatKey
  readonly bounds: OwnerBounds
  readonly sent?: Readonly<Record<string, string | undefined>>
  readonly trouble?: FormTrouble
}

/** One key: what it uses, its name and limits, its end. */
export function keyPage(frame: DashboardFrame, facts: KeyFacts): string {
  const { key, trouble } = facts
  const isEnded = key.state === 'revoked'
  return dashboardPage(
    frame,
    key.label,
    html`<header><p class="crumbs"><a href="/dashboard">API keys</a></p><h1>${key.label}</h1>
<p class="id"><code>fk-${key.id}…</code> ${keyState(key)}</p>
${usageFacts(key)}</header>
${troubleMarkup(trouble)}
${isEnded ? html`<p class="notice">It was revoked on ${dateText(key.revokedAtMs ?? 0)} and is refused from then on.</p>` : html`${changeForm(frame, facts)}${revokeForm(frame, facts)}`}`,
  )
}

function usageFacts({ usedToday, usedInAll, createdAtMs, expiresAtMs, owner }: ChatKey): Html {
  return html`<dl class="facts">${[
    figure('Today', counted(usedToday.requests, 'chat'), counted(tokensOf(usedToday), 'token')),
    figure(
      'In all',
      counted(usedInAll.requests, 'chat'),
      `${grouped(String(usedInAll.promptTokens))} tokens in, ${grouped(String(usedInAll.completionTokens))} out`,
    ),
    figure('Made', dateText(createdAtMs), `by ${owner}`),
    expiresAtMs === null ? NOTHING : figure('Ends', dateText(expiresAtMs), 'by itself'),
  ]}</dl>`
}

function changeForm(frame: DashboardFrame, { key, bounds, sent = {}, trouble }: KeyFacts): Html {
  const { label, limits } = key
  const text = (name: string, kept: string | number | null): string => sent[name] ?? String(kept ?? '')
  const limitTexts = { rpm: text('rpm', limits.rpm), tpd: text('tpd', limits.tpd) }
  return html`<section><h2>Name and limits</h2>
<form class="plain" method="post" action="/dashboard/keys/${key.id}">${hidden(frame)}
${fieldMarkup({ name: 'label', label: 'Name', value: text('label', label), more: html` required maxlength="${LABEL_CHARS_MAX}" autocomplete="off"` }, trouble)}
<div class="trio">${limitFields(limitTexts, bounds, trouble)}</div>
<button>Save</button></form></section>`
}

function revokeForm(frame: DashboardFrame, { key, trouble }: KeyFacts): Html {
  const isWrong = trouble?.field === 'sure'
  const marks = isWrong ? html` aria-invalid="true" aria-describedby="sure-wrong"` : NOTHING
  return html`<section><h2>Revoke</h2>
<p>Programs that use this key are turned away at once. It cannot be undone.</p>
<form class="plain" method="post" action="/dashboard/keys/${key.id}/revoke">${hidden(frame)}
<div><label class="check" for="sure"><input id="sure" name="sure" type="checkbox" value="yes" required${marks}>Yes, end this key for good</label>${wrongMarkup('sure', trouble)}</div>
<button>Revoke the key</button></form></section>`
}
