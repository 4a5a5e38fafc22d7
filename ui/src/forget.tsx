/** Forgetting in two steps: what would go, then the proof that it is gone. */
import { useEffect, useState } from 'preact/hooks';

import type { Erasure, Selector } from '../../integrations/typescript/src/operations';
import { api, refusal, type Refusal } from './api';
import { Action, Badge, Loading, Problem, number } from './parts';
import { RecordLink } from './record';

/** What an erasure counts, by its field. */
const COUNTS: Array<[keyof Erasure, string]> = [
  ['events', 'events'],
  ['learnings_invalidated', 'memories that rest on them alone'],
  ['receipts', 'lines of receipts'],
  ['completions', 'answers of models'],
  ['working', 'entries of working memory'],
  ['files', 'copies of files'],
];

function Counts({ erasure }: { erasure: Erasure }) {
  return (
    <dl class="facts">
      {COUNTS.map(([field, name]) => (
        <>
          <dt>{name}</dt>
          <dd class="num">{number(erasure[field] as number)}</dd>
        </>
      ))}
    </dl>
  );
}

function Residual({ erasure }: { erasure: Erasure }) {
  if (erasure.residual.length === 0) return null;
  return (
    <>
      <h4>What cannot be reached</h4>
      <ul>
        {erasure.residual.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </>
  );
}

export function Forget({ space, selector, cancel, done }: {
  space: string;
  selector: Selector;
  cancel: () => void;
  done: (erasure: Erasure) => void;
}) {
  const [preview, setPreview] = useState<Erasure>();
  const [error, setError] = useState<Refusal>();
  useEffect(() => {
    api.forget(space, { selector, dry_run: true }).then(setPreview, (failed: unknown) => setError(refusal(failed)));
  }, []);
  const erase = async () => {
    done(await api.forget(space, { selector, confirm_token: preview?.confirm_token, dry_run: false }));
  };
  return (
    <section class="forget" aria-label="Forget">
      <h3>What would be erased</h3>
      <Problem error={error} />
      {!preview && !error && <Loading />}
      {preview && (
        <>
          <Counts erasure={preview} />
          {preview.similar.length > 0 && (
            <>
              <h4>Says nearly the same, and stays</h4>
              <ul class="bare">
                {preview.similar.map((one) => (
                  <li key={one.event_id}>
                    <RecordLink id={one.event_id} /> <span class="num">{Math.round(one.likeness * 100)} %</span>
                  </li>
                ))}
              </ul>
            </>
          )}
          <Residual erasure={preview} />
          <div class="row spread">
            <button type="button" onClick={cancel}>
              Keep it
            </button>
            <Action kind="danger" work={erase}>
              Erase for good
            </Action>
          </div>
        </>
      )}
    </section>
  );
}

/** The proof of an erasure: the searched bytes, and the signed receipt. */
export function Proof({ erasure }: { erasure: Erasure }) {
  const [told, setTold] = useState('');
  const receipt = erasure.receipt ?? undefined;
  const verify = async () => {
    const signature = await api.receiptVerify({ receipt: receipt ?? '' });
    setTold(`The signature holds; the receipt names ${signature.fields.length} fields.`);
  };
  const save = async () => {
    const url = URL.createObjectURL(new Blob([receipt ?? ''], { type: 'text/plain' }));
    const anchor = document.createElement('a');
    [anchor.href, anchor.download] = [url, `mnemal-forget-${erasure.event_id ?? 'receipt'}.txt`];
    anchor.click();
    URL.revokeObjectURL(url);
  };
  return (
    <section class="forget" aria-label="Proof" role="status">
      <h3>Erased</h3>
      <p>
        {erasure.verified ? (
          <Badge tone="good">verified: the bytes of the space were searched and hold none of the texts</Badge>
        ) : (
          <Badge tone="warn">erased; the bytes could not be searched yet ({erasure.status.replaceAll('_', ' ')})</Badge>
        )}
      </p>
      <Counts erasure={erasure} />
      <Residual erasure={erasure} />
      {receipt && (
        <>
          <h4>Signed receipt</h4>
          <pre class="exact" tabIndex={0} aria-label="Signed receipt">{receipt}</pre>
          <div class="row">
            <Action work={verify}>Check the signature</Action>
            <Action work={save}>Save the receipt</Action>
            {told && <span>{told}</span>}
          </div>
        </>
      )}
    </section>
  );
}
