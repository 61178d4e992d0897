import type { PlainAnswer } from '../server/answer.ts'
import { Html, html, NOTHING } from './html.ts'
import { PAGE_POLICY, STYLE } from './style.ts'

/** The content of a page. */
export interface Page {
  readonly title: string
  /** One sentence for search engines and previews. */
  readonly description: string
  readonly canonical: string
  /** URL at which programs get the content of the page as JSON, or what comes closest. */
  readonly json: string
  readonly main: Html
  /** The link in the head that leads to this page. */
  readonly here?: '/agents' | '/chat'
  readonly hasChat?: boolean
  /** Set if the page is for one person: search engines must not index it, and the foot mentions the cookie. */
  readonly isPrivate?: true
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Ccircle cx='16' cy='16' r='14' fill='%230a5c44'/%3E%3Cpath d='M12 24V9h9M12 16h7' fill='none' stroke='%23fff' stroke-width='3'/%3E%3C/svg%3E"

const CURRENT = html` aria-current="true"`

const LINKS: readonly (readonly [string, string])[] = [
  ['/agents', 'Services'],
  ['/chat', 'Chat'],
  ['/llms.txt', 'For models'],
  ['/openapi.json', 'API'],
]

/** The markup of a page. */
export function pageText({
  title,
  description,
  canonical,
  json,
  main,
  here,
  hasChat = false,
  isPrivate,
}: Page): string {
  const style = new Html(`<style>${STYLE}</style>`)
  const links = LINKS.filter(([path]) => hasChat || path !== '/chat').map(
    ([path, name]) => html`<li><a href="${path}"${path === here ? CURRENT : NOTHING}>${name}</a></li>`,
  )
  const whole = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<link rel="canonical" href="${canonical}">
<link rel="alternate" type="application/json" href="${json}">
<link rel="icon" href="${ICON}">
${isPrivate === true ? html`<meta name="robots" content="noindex">` : NOTHING}${style}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="wrap"><a class="brand" href="/">Farthing</a><nav aria-label="Site"><ul>${links}</ul></nav></div></header>
<main id="content" class="wrap" tabindex="-1">
${main}
</main>
<footer class="foot"><div class="wrap">Made by the node itself${isPrivate === true ? '. No scripts, one cookie that ends with your visit' : ', from the chain. No scripts, no cookies'}, no third parties.</div></footer>
</body>
</html>
`
  return whole.text
}

/** Answers with a page. */
export function pageAnswer(
  content: string,
  status: 200 | 404 = 200,
  more: Readonly<Record<string, string>> = {},
): PlainAnswer {
  const headers = {
    ...more,
    'content-security-policy': PAGE_POLICY,
    'referrer-policy': 'no-referrer',
  }
  return { status, content, contentType: 'text/html; charset=utf-8', headers }
}
