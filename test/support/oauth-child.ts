import { testKernel } from '../../plugins/testing/kit.ts';
import { AuthProfiles } from '../../plugins/auth-profiles/contract.ts';
import authProfiles from '../../plugins/auth-profiles/index.ts';
import secrets from '../../plugins/secrets/index.ts';
import store from '../../plugins/store/index.ts';

/** `node oauth-child.ts <state folder> <token endpoint>`: says that it is ready, and with each line it reads the token as it is then. */
const [home = '', tokenUrl] = process.argv.slice(2);
const auth = { profiles: { oa: { provider: 'a', mode: 'oauth', oauth: { tokenUrl, clientId: 'me' } } } };
const { kernel } = await testKernel({ plugins: [store, secrets, authProfiles], config: { auth }, home });
const token = () =>
  kernel.run(async (run) => {
    const profiles = run.get(AuthProfiles);
    const [standing] = profiles.standing(run, { provider: 'a', model: 'm' });
    return (await profiles.credential(run, standing!.profile))?.apiKey;
  });
process.stdin.on('data', () => void token().then(console.log, (error: Error) => console.log(`error: ${error.message}`)));
console.log('ready');
