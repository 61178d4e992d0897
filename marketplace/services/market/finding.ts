import { type Hit, TextIndex } from '../../queries/bm25.ts'
import type { ServiceFacts } from '../service.ts'

/** What a service is found by. */
export type FindableService = Pick<ServiceFacts, 'serviceId' | 'name' | 'description' | 'capability' | 'words'>

/** A service that was found. */
export type FoundService<T> = Pick<Hit<T>, 'found' | 'score'>

/** Figures, hosts and addresses are what a service shall work on, not what it is. */
const MATERIAL = /(?<!\S)(?:\p{N}[\p{N}.,:]*|0x[0-9a-f]+|\S+(?:@|:\/\/|\.(?=[\p{L}\p{N}]))\S+)(?=[\s?!,;]|$)/giu
/** With less of a question covered, a service has nothing to do with it. */
const COVERAGE_MIN = 0.44
/** Share of the best score from which on another service counts as well. */
const ALSO = 0.35

/** What services are found by: made once of those that stay the same. */
export interface ServiceIndex<T> {
  readonly texts: TextIndex<T>
  readonly idOf: (one: T) => string
}

/** An index of services: id and name count most, then tags, then the description. */
export function serviceIndex<T>(all: readonly T[], factsOf: (one: T) => FindableService): ServiceIndex<T> {
  const texts = new TextIndex(all, (one) => {
    const { serviceId, name, capability, words, description } = factsOf(one)
    return [
      [1.5, `${serviceId} ${name}`],
      [1, `${capability} ${words}`],
      [0.5, description],
    ]
  })
  return { texts, idOf: (one) => factsOf(one).serviceId }
}

/**
 * The services that a question in plain words means, by BM25: the one of that very id first, then those that can be bought,
 * the best first. `isAvailable` is
 * null where this node cannot know. Empty where nothing fits, or no word of the question says anything. Every search of the
 * node is this one.
 */
export function findServices<T>(
  { texts, idOf }: ServiceIndex<T>,
  question: string,
  isAvailable: (one: T) => boolean | null,
): readonly FoundService<T>[] {
  const hits = texts.find(question.replace(MATERIAL, ' ')).filter(({ coverage }) => coverage >= COVERAGE_MIN)
  const least = (hits[0]?.score ?? 0) * ALSO
  const near = hits.filter(({ score }) => score >= least)
  const closed = new Set(near.filter(({ found }) => isAvailable(found) === false))
  const ranked = [...near.filter((hit) => !closed.has(hit)), ...closed]
  const id = question.trim().toLowerCase()
  return [...ranked.filter(({ found }) => idOf(found) === id), ...ranked.filter(({ found }) => idOf(found) !== id)]
}
