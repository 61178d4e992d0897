import { aboutAbilities } from './faq-abilities.ts'
import { aboutKeys, aboutPlatform } from './faq-basics.ts'
import { aboutCalls, aboutMarket } from './faq-calls.ts'
import type { FaqFacts, FaqItem } from './faq-item.ts'

/** The built-in questions, then the operator's own. */
export function faqItems(facts: FaqFacts): readonly FaqItem[] {
  const built = [
    ...aboutPlatform(facts),
    ...aboutKeys(facts),
    ...aboutCalls(facts),
    ...aboutAbilities(facts),
    ...aboutMarket(facts),
  ]
  const own = facts.rules.faq.map(({ question, answer }, i) => ({
    id: `operator-${i + 1}`,
    question,
    answer,
    words: '',
  }))
  return [...built, ...own]
}
