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

/** What the sign-in page shows. */
export interface SignInFacts {
  readonly host: string
  /** Text for a wallet to sign; null if no wallet may sign in. */
  readonly challenge: string | null
  readonly hasWallets: 'all' | 'some'
  readonly trouble?: FormTrouble
}

/** `/dashboard` for a user who is not signed in. */
export function signInPage(frame: DashboardFrame, facts: SignInFacts): string {
  const { host, challenge, trouble } = facts
  return dashboardPage(
    frame,
    'Sign in',
    html`<header><h1>Sign in</h1>
<p class="lede">API keys for the chat of ${host}: make them, name them, see what they use, end them.</p></header>
${troubleMarkup(trouble)}
${challenge === null ? NOTHING : walletForm(frame, challenge, facts)}
${passwordForm(frame, trouble)}`,
  )
}

function walletForm(frame: DashboardFrame, challenge: string, { hasWallets, trouble }: SignInFacts): Html {
  const isWrong = trouble?.field === 'signed'
  const marks = isWrong
    ? html` aria-invalid="true" aria-describedby="signed-hint signed-wrong"`
    : html` aria-describedby="signed-hint"`
  const who =
    hasWallets === 'all' ? 'Any wallet of this network will do.' : 'The operator has named the wallets that may.'
  return html`<section><h2>With a wallet</h2>
<p>Sign this text, in a folder of Farthing on your own machine. It moves no coins and is good for five minutes. ${who}</p>
<pre class="more"><code id="challenge">npx --no farthing wallet sign-text "${challenge}"</code></pre>
<form class="plain" method="post" action="/dashboard/sign-in">${hidden(frame)}
<div><label for="signed">What it printed</label>
<textarea id="signed" name="signed" required maxlength="120000" autocomplete="off" spellcheck="false"${marks}></textarea>
<p class="hint" id="signed-hint">A line that begins with {"address"</p>${wrongMarkup('signed', trouble)}</div>
<button>Sign in with this signature</button></form></section>`
}

function passwordForm(frame: DashboardFrame, trouble: FormTrouble | undefined): Html {
  const hint =
    'Set with: npx --no farthing keys password. The text in operator.token of the data folder always lets you in.'
  const more = html` required maxlength="200" autocomplete="current-password"`
  return html`<section><h2>As the operator</h2>
<form class="plain" method="post" action="/dashboard/sign-in">${hidden(frame)}
${fieldMarkup({ name: 'password', label: 'Password', type: 'password', hint, more }, trouble)}
<button>Sign in as the operator</button></form></section>`
}
