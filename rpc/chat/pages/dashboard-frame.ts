import type { PlainAnswer } from '../../server/answer.ts'
import { type Html, html, NOTHING } from '../../web/html.ts'
import { pageText } from '../../web/layout.ts'
import { PAGE_POLICY } from '../../web/style.ts'

/** What every page of the dashboard needs. */
export interface DashboardFrame {
  readonly baseUrl: string
  /** CSRF mark in the page's forms, so that no other page can send them. */
  readonly csrf: string
}

/** `field` is null if the trouble is with the whole form. */
export interface FormTrouble {
  readonly field: string | null
  readonly reason: string
}

/** A whole page of the dashboard. */
export function dashboardPage({ baseUrl }: DashboardFrame, title: string, main: Html): string {
  return pageText({
    title: `${title} · Farthing dashboard`,
    description: 'API keys for the chat of this node.',
    canonical: `${baseUrl}/dashboard`,
    json: '/api/v1/keys',
    hasChat: true,
    isPrivate: true,
    main,
  })
}

/** The referrer policy is not `no-referrer`: browsers would send forms with the Origin `null`. */
export function dashboardAnswer(
  content: string,
  status = 200,
  more: Readonly<Record<string, string>> = {},
): PlainAnswer {
  const headers = {
    ...more,
    'content-security-policy': PAGE_POLICY,
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
  }
  return { status, content, contentType: 'text/html; charset=utf-8', headers }
}

/** The hidden field with the CSRF mark. */
export function hidden({ csrf }: DashboardFrame): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`
}

/** A field of a form. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly type?: 'text' | 'password' | 'number'
  readonly value?: string
  /** Further attributes. They are not escaped. */
  readonly more?: Html
}

/** A field with its label, hint and error. */
export function fieldMarkup(
  { name, label, hint, type = 'text', value = '', more = NOTHING }: Field,
  trouble?: FormTrouble,
): Html {
  const isWrong = trouble?.field === name
  const described = [...(hint === undefined ? [] : [`${name}-hint`]), ...(isWrong ? [`${name}-wrong`] : [])].join(' ')
  const describing = described === '' ? NOTHING : html` aria-describedby="${described}"`
  const invalid = isWrong ? html` aria-invalid="true"` : NOTHING
  return html`<div><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" value="${value}"${describing}${invalid}${more}>
${hint === undefined ? NOTHING : html`<p class="hint" id="${name}-hint">${hint}</p>`}${wrongMarkup(name, trouble)}</div>`
}

/** The error of a field, if it has one. */
export function wrongMarkup(name: string, trouble: FormTrouble | undefined): Html {
  return trouble?.field === name ? html`<p class="wrong" id="${name}-wrong">${trouble.reason}</p>` : NOTHING
}

/** The error of a form, shown above it, also if it is about one field. */
export function troubleMarkup(trouble: FormTrouble | undefined): Html {
  if (trouble === undefined) return NOTHING
  const where = trouble.field === null ? NOTHING : html` <a href="#${trouble.field}">Go to the field</a>`
  return html`<p class="notice bad" role="alert">${trouble.reason}${where}</p>`
}

/** A page that says why a form was refused. */
export function refusedPage(frame: DashboardFrame, reason: string): string {
  return dashboardPage(
    frame,
    'Not done',
    html`<h1>Not done</h1><p class="notice bad" role="alert">${reason}</p><p class="more"><a href="/dashboard">Back to the dashboard</a></p>`,
  )
}

/** A step between a page of another site and the dashboard. */
export function goOnPage(frame: DashboardFrame): string {
  return dashboardPage(
    frame,
    'Dashboard',
    html`<h1>API keys</h1><p class="more"><a href="/dashboard">Go on to the dashboard</a></p>`,
  )
}
