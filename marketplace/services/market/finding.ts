import { type Hit, TextIndex } from '../../queries/bm25.ts'
import type { ServiceFacts } from '../service.ts'

/** The searchable fields of a service. */
export type FindableService = Pick<ServiceFacts, 'serviceId' | 'name' | 'description' | 'capability' | 'words'>

/** A service that was found. */
export type FoundService<T> = Pick<Hit<T>, 'found' | 'score'>

/** Numbers, hosts and addresses are input for a service. They do not say which service is wanted. */
const MATERIAL = /(?<!\S)(?:\p{N}[\p{N}.,:]*|0x[0-9a-f]+|\S+(?:@|:\/\/|\.(?=[\p{L}\p{N}]))\S+)(?=[\s?!,;]|$)/giu
/** A service that covers less than this share of a question is not a match. */
const COVERAGE_MIN = 0.44
/** Minimum share of the best score for further matches. */
const ALSO = 0.35

/** The index does not follow later changes of the services. */
export interface ServiceIndex<T> {
  readonly texts: TextIndex<T>
  readonly idOf: (one: T) => string
}

/** Builds an index of services: id and name weigh most, then capability and search words, then the description. */
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
 * Finds services by BM25. Matches whose id is the question come first, then matches that may be available, then the
 * others; the best first in each group. `isAvailable` returns null if this node cannot know.
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
