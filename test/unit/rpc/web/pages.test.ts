import { afterEach, describe, expect, it } from 'vitest'
import type { NodeApi } from '../../../../rpc/node/node-api.ts'
import { cataloguePage } from '../../../../rpc/web/catalogue-page.ts'
import { durationText, grouped, shareText } from '../../../../rpc/web/figures.ts'
import { homePage } from '../../../../rpc/web/home.ts'
import { Html, html } from '../../../../rpc/web/html.ts'
import { servicePage } from '../../../../rpc/web/service-page.ts'
import { HERE, sellingNode, shownRail } from '../../../support/discovery-node.ts'
import { closeMarkets } from '../../../support/market.ts'

afterEach(closeMarkets)

/** Visible text of a page, words separated by single blanks. */
function wordsOf(page: string | undefined): string {
  const main = /<main[\s\S]*<\/main>/.exec(page ?? '')?.[0] ?? ''
  return main
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')
}

describe('the page of a service', () => {
  it('has the price on every rail, in coin and in dollars', async () => {
    const { node } = await sellingNode({ stable: shownRail() })
    const words = wordsOf(servicePage(node, HERE, 'node-test-once'))
    expect(words).toMatch(
      /One call \$0\.002 Native coin, held in escrow on chain \d+(\.\d+)? FAR on test Stablecoin, by authorization \(EIP-3009\) 0\.002 USDC on base /,
    )
  })

  it('says of a rail that takes nothing why, and still sells over the other', async () => {
    const { node } = await sellingNode({ stable: shownRail('no facilitator answers') })
    const words = wordsOf(servicePage(node, HERE, 'node-test-once'))
    expect(words).toContain('0.002 USDC on base; not now: no facilitator answers')
    expect(words).toContain(' available Price ')
  })

  it('has the record that the chain keeps, once there is one', async () => {
    const { node, market } = await sellingNode()
    expect(wordsOf(servicePage(node, HERE, 'node-test-once'))).toContain('No paid call of it has ended yet.')
    await market.buy('ok')
    await market.buy('fail', { from: 3 })
    await market.pass(1_000)
    await market.mineWaiting(2)
    const words = wordsOf(servicePage(node, HERE, 'node-test-once'))
    expect(words).toContain('Success rate 50 % ')
    expect(words).toContain('Calls delivered 1 Refunds 1 (1 failed, 0 expired) ')
    expect(words).toContain('Distinct payers 1 As concentrated as 1 equal payer Share of the top payer 100 % ')
  })

  it('shows calls to copy, the sample, and where its calls are listed', async () => {
    const { node } = await sellingNode()
    const page = servicePage(node, HERE, 'node-test-once')
    const words = wordsOf(page)
    expect(words).toContain(`curl '${HERE}/api/x402/node-test-once'`)
    expect(words).toContain(`npx --no farthing call node-test-once 'ok'`)
    expect(words).toContain(`agent.call('node-test-once', 'ok')`)
    expect(words).toContain('Result { "echo": "ok" }')
    expect(page).toContain('href="/api/x402/requests?serviceId=node-test-once"')
  })

  it('says of what cannot be bought why, and which settings its operator has for that', async () => {
    const { node } = await sellingNode()
    const words = wordsOf(servicePage(node, HERE, 'node-test-closed'))
    expect(words).toContain('unavailable its provider is down It cannot be bought here now')
    expect(words).toContain('The operator of this node can offer it with providers.rates or models.file .')
    expect(wordsOf(servicePage(node, HERE, 'node-test-once'))).not.toContain('cannot be bought')
  })

  it('is not there for what is not sold, nor where nothing is', async () => {
    const { node } = await sellingNode()
    expect(servicePage(node, HERE, 'constructor')).toBeUndefined()
    expect(servicePage({ ...node, market: null } as NodeApi, HERE, 'node-test-once')).toBeUndefined()
  })
})

describe('the catalogue', () => {
  it('shows what cannot be bought too, with the reason', async () => {
    const { node } = await sellingNode()
    const words = wordsOf(cataloguePage(node, HERE, {}))
    expect(words).toContain('Available now 2 of 3 the others say why not')
    expect(words).toContain('State unavailable its provider is down')
  })

  it('keeps what was searched for in its form, and says what was found', async () => {
    const { node } = await sellingNode()
    const page = cataloguePage(node, HERE, { q: 'once "x"', capability: 'utility' })
    expect(page).toContain('value="once &#34;x&#34;"')
    expect(page).toContain('<option value="utility" selected>')
    expect(wordsOf(page)).toContain('1 of 3 services for “once "x"” of the capability utility. Show all')
  })

  it('and the home page say so where nothing is sold', async () => {
    const { node } = await sellingNode()
    const silent = { ...node, market: null } as NodeApi
    expect(wordsOf(cataloguePage(silent, HERE, {}))).toContain('This node sells no services.')
    expect(wordsOf(homePage(silent, HERE))).toContain('This node sells no services.')
  })
})

describe('markup', () => {
  it('takes text for text and markup for markup', () => {
    const inner = html`<b>${'<i>'}</b>`
    expect(html`<p title="${'"&'}">${inner}${[inner, inner]}${7}</p>`.text).toBe(
      '<p title="&#34;&#38;"><b>&#60;i&#62;</b><b>&#60;i&#62;</b><b>&#60;i&#62;</b>7</p>',
    )
    expect(html`plain`).toEqual(new Html('plain'))
  })

  it('has figures as people read them', () => {
    expect(['1', '999', '1000', '10441238.395', '1234567'].map(grouped)).toEqual([
      '1',
      '999',
      '1,000',
      '10,441,238.395',
      '1,234,567',
    ])
    expect([null, 0, 999, 1_000, 16_384].map(durationText)).toEqual([
      'not known yet',
      '0 ms',
      '999 ms',
      '1 s',
      '16.4 s',
    ])
    expect([null, '100', '66.666666', '99.999'].map(shareText)).toEqual([
      'not known yet',
      '100 %',
      '66.66 %',
      '99.99 %',
    ])
  })
})
