import { keyValueStoreSuite } from '../contract/key-value-store.suite.ts'
import { OrderedStore } from '../support/sim/ordered-store.ts'

keyValueStoreSuite('an ordered store in memory', () => ({
  open: async () => new OrderedStore(),
  remove: async () => {},
}))
