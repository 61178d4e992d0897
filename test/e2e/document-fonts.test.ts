import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ask, post } from '../support/api.ts'
import { marketOpen } from '../support/caller.ts'
import { Workshop } from '../support/daemon.ts'
import { fontWith } from '../support/made-font.ts'

const workshop = new Workshop()
const SERVICE = 'node-invoice-pdf'

interface Registry {
  readonly services: readonly { readonly serviceId: string; readonly description: string }[]
}

const invoiceFor = (name: string): string =>
  JSON.stringify({
    invoiceNumber: '1',
    buyer: { name },
    items: [{ description: 'x', qty: 1, unitPrice: 1 }],
    vatRate: 0,
  })

/** Starts a node. Returns its description of the letters that documents accept, and a function that gets a quote. */
async function saidBy(
  flags: readonly string[],
): Promise<{ readonly described: string; quote(name: string): Promise<string> }> {
  const { url } = await workshop.start(workshop.folder(), { env: { TEST_FAST_BLOCKS: '1' }, flags })
  await marketOpen(url)
  const { services } = (await ask<Registry>(url, '/services.json')).body
  const described = services.find(({ serviceId }) => serviceId === SERVICE)?.description ?? ''
  const quote = async (name: string) => (await post(url, `/api/x402/${SERVICE}`, { request: invoiceFor(name) })).text
  return { described, quote }
}

describe('documents of a node', () => {
  it('name the scripts that it prints, and the setting that adds others', async () => {
    const { described, quote } = await saidBy([])
    expect(described).toMatch(/ It prints Latin, Greek, Cyrillic, Armenian, Georgian\.$/)
    const refused = await quote('山田東')
    expect(refused).toContain('this node prints Latin, Greek, Cyrillic, Armenian, Georgian;')
    expect(refused).toContain('a font that its operator names in documents.fonts adds others')
    expect(refused).toContain('"requestValid":false')
  })

  it('name those of the fonts of its operator, too, and print them', async () => {
    const path = join(workshop.folder(), 'font.ttf')
    writeFileSync(path, fontWith('あんアン山田東'))
    const { described, quote } = await saidBy(['--documents-fonts', path])
    expect(described).toMatch(/ It prints Latin, Greek, Cyrillic, Japanese, Armenian, Georgian\.$/)
    expect(await quote('山田東')).not.toContain('"requestValid":false')
    expect(await quote('🥨')).toContain('this node prints Latin, Greek, Cyrillic, Japanese, Armenian, Georgian;')
  })
})
