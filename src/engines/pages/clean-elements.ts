import { cutText, webUrl } from './text.ts'

/** Elements that are dropped with their content. */
const DROPPED = new Set(
  'script style iframe frame frameset noframes svg math noscript template object embed applet canvas audio video map select option optgroup button input textarea datalist dialog title link meta base'.split(
    ' ',
  ),
)
const KEPT = new Set(
  'a abbr address article aside b blockquote br caption cite code dd del details dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark nav ol p pre q s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr u ul var'.split(
    ' ',
  ),
)
const STAND_INS: Readonly<Record<string, string>> = { form: 'div', fieldset: 'div', center: 'div', tt: 'code' }
/** Markdown rewrites the text of these elements at each level, so deep nesting costs too much. */
const NESTING_MAX: Readonly<Record<string, number>> = { blockquote: 8, ul: 12, ol: 12, table: 3, dl: 12 }
/** Elements that contain the page, even if a style hides them until a script has run. */
const NEVER_HIDDEN = new Set(['html', 'body', 'main', 'article'])
const HIDING_STYLE = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i
const STYLE_CHARS_MAX = 500

const TEXT_ATTRIBUTES = ['id', 'class', 'lang', 'dir', 'role', 'itemprop', 'itemtype', 'rel', 'datetime', 'align']
const ATTRIBUTE_CHARS_MAX = 200
const ALT_CHARS_MAX = 500

/** Attributes of an element as written. */
export type Attributes = Readonly<Record<string, string | undefined>>

/** Null drops the attribute. */
export type Attribute = readonly [name: string, value: string | null]

/** Elements that are not text or are hidden are dropped with their content. */
export function isDropped(tag: string, attributes: Attributes): boolean {
  if (DROPPED.has(tag)) return true
  if (NEVER_HIDDEN.has(tag)) return false
  if (attributes.hidden !== undefined || attributes['aria-hidden'] === 'true') return true
  return HIDING_STYLE.test(cutText(attributes.style ?? '', STYLE_CHARS_MAX))
}

/** The element that replaces another one. Null keeps only its content. */
export function standIn(tag: string): string | null {
  if (tag === 'html' || tag === 'head' || tag === 'body') return null
  if (Object.hasOwn(STAND_INS, tag)) return STAND_INS[tag] as string
  return KEPT.has(tag) ? tag : 'span'
}

/** Most levels of nesting for this element. */
export function nestingMax(tag: string): number {
  return Object.hasOwn(NESTING_MAX, tag) ? (NESTING_MAX[tag] as number) : Number.POSITIVE_INFINITY
}

/** At most a dozen, all harmless. */
export function attributesOf(tag: string, attributes: Attributes, base: string): readonly Attribute[] {
  const kept = TEXT_ATTRIBUTES.map((name): Attribute => [name, safeText(attributes[name])])
  if (tag === 'a') kept.push(['href', webUrl(attributes.href, base) ?? mailUrl(attributes.href)])
  if (tag === 'img') {
    kept.push(['src', webUrl(attributes.src, base) ?? webUrl(attributes['data-src'], base)])
    kept.push(['alt', cutText(attributes.alt ?? '', ALT_CHARS_MAX)])
  }
  if (tag === 'ol') kept.push(['start', listStart(attributes.start)])
  return kept.filter(([, value]) => value !== null && value !== '')
}

/** Class names end up in code fences, so backticks are removed. */
function safeText(value: string | undefined): string | null {
  return value === undefined ? null : cutText(value, ATTRIBUTE_CHARS_MAX).replace(/[`\s]+/g, ' ')
}

function mailUrl(value: string | undefined): string | null {
  return value !== undefined && /^mailto:[\w.+-]{1,64}@[\w.-]{1,200}$/.test(value) ? value : null
}

function listStart(value: string | undefined): string | null {
  return /^[0-9]{1,6}$/.test(value ?? '') ? (value as string) : null
}
