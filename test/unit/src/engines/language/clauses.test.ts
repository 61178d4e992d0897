import { expect, it } from 'vitest'
import { clausesOf } from '../../../../../src/engines/language/clauses.ts'

const terms = (heading: string): string =>
  `1. Scope. These terms apply to all orders. 2. ${heading}. The shop keeps to it. 3. Payment. Invoices are due in 14 days.`
const isHeading = (words: string): boolean => {
  const text = terms(words)
  return clausesOf(text)?.headings.has(text.indexOf(words)) === true
}

it.each([
  'Use of Personal Information',
  'No Waiver of Rights',
  'Leave of Absence',
  'Call Options',
  'Open Source Licences',
  'Report of the Auditors',
])('%s is the heading of a clause', (words) => {
  expect(isHeading(words)).toBe(true)
})

it.each([
  'Never open the hot kiln',
  'No refunds after Friday',
  'Keep the lid closed',
  'Wash with cold water',
  'Switch on alarm',
  'Report to reception',
])('%s is a rule', (words) => {
  expect(isHeading(words)).toBe(false)
})
