import { describe, expect, it } from 'vitest'
import { Workshop } from '../support/daemon.ts'
import { freePort } from '../support/tcp-proxy.ts'

const workshop = new Workshop()
const SECRET = 'pass-of-nobody'

/** Starts a node with a claims URL that it must refuse to run with. Returns its exit and output. */
async function refusal(url: string) {
  const args = ['start', '--data-dir', workshop.folder(), '--rpc-port', '0']
  return workshop.run(args, { env: { FARTHING_MARKET_CLAIMS_URL: url } })
}

describe('a node whose claims are to be in PostgreSQL', () => {
  it('says why it does not start if no server answers, in one line without the password', async () => {
    const port = await freePort()
    const { code, stderr } = await refusal(`postgres://farthing:${SECRET}@127.0.0.1:${port}/claims`)
    expect(code).toBe(1)
    expect(stderr).toContain(`the claim store 127.0.0.1:${port}/claims cannot be used: connect ECONNREFUSED`)
    expect(stderr).not.toContain(SECRET)
    expect(stderr).not.toContain('    at ')
  })

  it('does not start on a URL that could make claims less durable', async () => {
    const { code, stderr } = await refusal(`postgres://farthing:${SECRET}@127.0.0.1/claims?options=-cfsync%3Doff`)
    expect(code).toBe(1)
    expect(stderr).toContain('unknown parameter options')
    expect(stderr).not.toContain(SECRET)
  })

  it('shows the setting without what it holds', async () => {
    const env = { FARTHING_MARKET_CLAIMS_URL: `postgres://farthing:${SECRET}@127.0.0.1/claims` }
    for (const args of [[], ['--json']]) {
      const { code, stdout } = await workshop.run(['config', 'print', ...args], { env })
      expect(code).toBe(0)
      expect(stdout).toContain('(hidden)')
      expect(stdout).not.toContain(SECRET)
    }
  })
})
