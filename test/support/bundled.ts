import { withMock } from './instar.ts';

export { bundledPlugins as bundled } from '../../plugins/testing/kit.ts';

/** Config of the product on a mock model, for a kernel in this process. */
export const mockConfig = (url: string, home: string) => withMock(url, home, { gateway: { auth: { token: 'test-token' } } });
