import { afterEach, describe, expect, it } from 'vitest'
import { Dashboards } from '../../support/dashboard.ts'

const dashboards = new Dashboards()
afterEach(async () => {
  expect(await dashboards.close()).toEqual([])
})
const open: Dashboards['open'] = (choices) => dashboards.open(choices)
const signedIn: Dashboards['signedIn'] = (choices) => dashboards.signedIn(choices)

describe('what providers say', () => {
  const providers = () => [
    { what: 'models', name: 'house', usable: false, trouble: '<b>org-4711</b>\u202e owes\u0085 12.34' },
    { what: 'web searches', name: 'searxng', usable: true, trouble: 'x'.repeat(50_000) },
    { what: 'stablecoin payments', name: 'https://pay.example', usable: true, trouble: null },
  ]

  it('is on the page of the operator, escaped and cut', async () => {
    const { browser } = await signedIn({ providers })
    const { text } = await browser.get()
    expect(text).toContain('3 providers')
    expect(text).toContain('<bdi>&#60;b&#62;org-4711&#60;/b&#62;? owes? 12.34</bdi>')
    expect(text).toContain(`${'x'.repeat(400)}…`)
    expect(text).not.toContain('x'.repeat(401))
    expect(text).toContain('https://pay.example')
  })

  it('is on no page of a wallet, and on none without a session', async () => {
    const { server, browser } = await open({ providers })
    expect((await browser.get()).text).not.toMatch(/org-4711|searxng|pay\.example/)
    const signed = await browser.signed(server.test)
    await browser.send('/dashboard/sign-in', { signed })
    const { text } = await browser.get()
    expect(text).toContain('Signed in as <code>')
    expect(text).not.toMatch(/org-4711|searxng|pay\.example/)
  })

  it('is listed of a hundred at most, those with trouble first', async () => {
    const many = Array.from({ length: 150 }, (_, i) => ({
      what: 'w',
      name: `p${i}.`,
      usable: i !== 149,
      trouble: null,
    }))
    const { browser } = await signedIn({ providers: () => many })
    const { text } = await browser.get()
    expect([text.includes('p149.'), text.match(/<h3>p\d+\./g)?.length]).toEqual([true, 100])
  })
})
