import { DOCUMENT_EXAMPLES } from '../support/document-requests.ts'
import { documentShop } from '../support/documents.ts'
import { resultOf } from '../support/service-results.ts'
import { type BenchRow, factRow, median, round, time, valueRow } from './report.ts'

const ROUNDS = 40
const COLD_ROUNDS = 5
const NOW = '2026-11-22T10:00:00Z'

/** An invoice of five lines in three scripts, from the request's text to the result's: in a warm process and in a new one. */
export async function benchDocuments(): Promise<readonly BenchRow[]> {
  const cold: number[] = []
  for (let i = 0; i < COLD_ROUNDS; i++) {
    const shop = await documentShop()
    cold.push(await time(() => invoice(shop.contextAt(NOW))))
    await shop.close()
  }
  const shop = await documentShop()
  for (let i = 0; i < 3; i++) await invoice(shop.contextAt(NOW))
  const warm: number[] = []
  for (let i = 0; i < ROUNDS; i++) warm.push(await time(() => invoice(shop.contextAt(NOW))))
  await shop.close()
  const p95 = [...warm].sort((a, b) => a - b)[Math.floor(ROUNDS * 0.95)] as number
  return [
    valueRow('invoice as PDF, warm process, p50', median(warm), 'ms', { most: 300 }),
    factRow('invoice as PDF, warm process, p95', `${round(p95)} ms`),
    factRow('invoice as PDF, new process, p50', `${round(median(cold))} ms`),
  ]
}

function invoice(context: Parameters<typeof resultOf>[2]): Promise<unknown> {
  return resultOf('node-invoice-pdf', JSON.stringify(DOCUMENT_EXAMPLES['node-invoice-pdf']), context)
}
