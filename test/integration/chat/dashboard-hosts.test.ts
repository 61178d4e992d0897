import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'

import { type DashboardServer, Dashboards } from '../../support/dashboard.ts'
import { askRaw } from '../../support/raw-http.ts'

const dashboards = new Dashboards()
afterEach(async () => {
  expect(await dashboards.close()).toEqual([])
})
const open: Dashboards['open'] = (choices) => dashboards.open(choices)

/** The dashboard as seen by a client with these headers. */
function pageAs({ url }: DashboardServer, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request(`${url}/dashboard`, { headers }, async (answer) => {
      const parts: Buffer[] = []
      for await (const part of answer) parts.push(part)
      resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() })
    })
      .on('error', reject)
      .end()
  })
}

describe('the dashboard under a name that is not its own', () => {
  it('shows no text to sign under a name that the node only hears of: its owner could hand the signature on', async () => {
    const { server, browser } = await open({ loopback: false })
    for (const host of ['evil.example', '203.0.113.9', '::::']) {
      const { status, text } = await pageAs(server, { host })
      expect([host, status, text.includes('sign-text')]).toEqual([host, 200, false])
    }
    expect((await browser.get()).text).toContain('sign-text')
    const { server: named } = await open({ loopback: false, publicUrl: 'https://node.example' })
    expect((await pageAs(named, { host: 'evil.example' })).text).toContain('dashboard of node.example to')
  })

  it('takes no signature under such a name either', async () => {
    const { server, browser } = await open({ loopback: false })
    const signed = await browser.signed(server.test)
    const body = new URLSearchParams({ csrf: browser.hidden('csrf'), signed }).toString()
    const refused = await askRaw(server.url, {
      method: 'POST',
      path: '/dashboard/sign-in',
      headers: {
        host: 'evil.example',
        cookie: `farthing-dashboard=${browser.cookie?.split('=')[1]}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body,
    })
    expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('wallets do not sign in here')])
    expect((await browser.send('/dashboard/sign-in', { signed })).status).toBe(303)
  })

  it('hears no name from a header that its proxy passes on as it came', async () => {
    const { server } = await open({ loopback: false, trustProxy: true })
    const { status, text } = await pageAs(server, { host: 'node.example', 'x-forwarded-host': 'evil.example' })
    expect([status, text.includes('node.example'), text.includes('evil.example')]).toEqual([200, true, false])
  })

  it('believes no proxy that the scheme is a text of its client', async () => {
    const { server } = await open({ trustProxy: true })
    for (const proto of ['javascript', 'https, x y', '"><b>', 'I owe you. http', 'x'.repeat(9_000)])
      expect([proto, (await pageAs(server, { 'x-forwarded-proto': proto })).status]).toEqual([proto, 400])
    expect((await pageAs(server, { 'x-forwarded-proto': 'https' })).status).toBe(200)
  })

  it('is not there for pages of strangers, where it is for its machine alone', async () => {
    const { server, browser } = await open()
    expect((await pageAs(server, { host: 'evil.example' })).status).toBe(403)
    expect((await browser.get()).status).toBe(200)
  })
})
