import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type RunningDaemon, Workshop } from '../support/daemon.ts'
import { PlainBrowser } from '../support/dashboard.ts'

const workshop = new Workshop()

interface Key {
  readonly id: string
  readonly label: string
  readonly state: string
  readonly owner: string
  readonly limits: { readonly rpm: number | null; readonly tpd: number | null }
  readonly expiresAt: string | null
  readonly usedToday: { readonly requests: number }
}

/** Runs `farthing keys` at a node. */
function keysOf(daemon: RunningDaemon) {
  const place = ['--data-dir', daemon.dataDir, '--rpc-port', new URL(daemon.url).port]
  const run = (...args: readonly string[]) => workshop.run(['keys', ...args, ...place])
  const list = async (): Promise<readonly Key[]> => JSON.parse((await run('--json')).stdout).keys
  return { run, list }
}

async function statusWith(daemon: RunningDaemon, secret: string): Promise<number> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'model-1', messages: [{ role: 'user', content: 'Hello' }] })
  return (await fetch(`${daemon.url}/api/v1/chat/completions`, { method: 'POST', headers, body })).status
}

describe('farthing keys', () => {
  it('makes, changes and ends keys of the node that runs, and of its folder where none does', async () => {
    const daemon = await workshop.start(workshop.folder(), { mine: 0 })
    const { run } = keysOf(daemon)
    const made = await run('create', 'laptop of Ada', '--rpm', '30', '--expires-days', '7')
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^fk-[0-9A-Za-z]{51}\n$/) })
    const secret = made.stdout.trim()
    const id = secret.slice(3, 11)
    // There is no model. A valid key gets 503 at no cost, an invalid one 401.
    expect(await statusWith(daemon, secret)).toBe(503)
    expect(await statusWith(daemon, `${secret.slice(0, -1)}-`)).toBe(401)
    const table = await run()
    expect(table.stdout).toMatch(/^ID +LABEL +STATE .*\n\w{8} +laptop of Ada +live +operator +30 +- +0 /)
    expect(table.stdout).not.toContain(secret.slice(11))
    expect(
      await run('change', secret.slice(0, 11), '--label', 'phone', '--rpm', 'none', '--tpd', '5000'),
    ).toMatchObject({
      code: 0,
      stdout: `${id} "phone" is live; --rpm none, --tpd 5000\n`,
    })
    await daemon.kill()

    const offline = await run('--json')
    expect(offline.stderr).toContain('no node runs')
    expect(JSON.parse(offline.stdout).keys).toMatchObject([{ id, label: 'phone', limits: { rpm: null, tpd: 5000 } }])
    const second = (await run('create', 'made offline')).stdout.trim()
    expect(await run('revoke', id)).toMatchObject({ code: 0, stdout: `${id} "phone" is revoked\n` })

    const again = await workshop.start(daemon.dataDir, { mine: 0 })
    expect(await statusWith(again, second)).toBe(503)
    expect(await statusWith(again, secret)).toBe(401)
    expect((await keysOf(again).list()).map(({ label, state }) => `${label} ${state}`)).toEqual([
      'made offline live',
      'phone revoked',
    ])
    expect((await keysOf(again).run('revoke', second.slice(3, 11))).code).toBe(0)
    expect(await statusWith(again, second)).toBe(401)
    expect((await again.stop()).code).toBe(0)
  })

  it('says in one line what is wrong', async () => {
    const daemon = await workshop.start(workshop.folder(), { mine: 0 })
    const { run } = keysOf(daemon)
    expect(await run('create')).toMatchObject({ code: 2, stderr: expect.stringContaining('keys create <label>') })
    expect(await run('create', 'x', '--rpm', '0')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--rpm is'),
    })
    expect(await run('create', 'x', '--expires-days', '0')).toMatchObject({ code: 2 })
    expect(await run('change', 'abcdefgh')).toMatchObject({ code: 2, stderr: expect.stringContaining('--label') })
    expect(await run('revoke', 'abcdefgh')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^farthing: .*no key abcdefgh.*key_not_found.*\n$/),
    })
    const stranger = ['--data-dir', workshop.folder(), '--rpc-port', new URL(daemon.url).port]
    expect(await workshop.run(['keys', ...stranger])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('operator'),
    })
    expect((await daemon.stop()).code).toBe(0)
  })

  it('sets the password of the dashboard, beside which the token of the folder still signs in', async () => {
    const daemon = await workshop.start(workshop.folder(), { mine: 0 })
    const token = readFileSync(join(daemon.dataDir, 'operator.token'), 'utf8').trim()
    const browser = new PlainBrowser(daemon.url)
    expect((await browser.signInByPassword(token)).status).toBe(303)
    expect((await browser.makeKey({ label: 'by hand' })).status).toBe(200)
    const password = (input: string) => workshop.run(['keys', 'password', '--data-dir', daemon.dataDir], { input })
    expect(await password('short\n')).toMatchObject({ code: 2, stderr: expect.stringContaining('10 to 200') })
    expect(await password('correct horse battery\n')).toMatchObject({ code: 0, stderr: '' })
    expect(statSync(join(daemon.dataDir, 'operator.password')).mode & 0o777).toBe(0o600)
    expect((await browser.get()).text).toContain('Sign in as the operator')
    expect((await browser.signInByPassword('wrong horse battery')).status).toBe(401)
    expect((await browser.signInByPassword(token)).status).toBe(303)
    expect((await browser.signInByPassword('correct horse battery')).status).toBe(303)
    expect((await browser.get()).text).toContain('by hand')
    expect((await daemon.stop()).code).toBe(0)
  })
})
