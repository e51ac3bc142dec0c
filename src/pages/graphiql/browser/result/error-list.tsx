/** Explains the errors of an answer: where each occurred, why, and what to do. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type AnswerError, type ErrorExplanation, type ErrorGuide, loadErrorGuide } from "./answer-errors.ts";

/** The most errors that are explained. The JSON has all of them. */
const explainedMax = 5;

export interface ErrorListLinks {
  /** URL path of the module with the explanations. */
  readonly errorGuide: string;
  /** URL path of the documentation. */
  readonly docs: string;
}

interface ErrorListProps extends ErrorListLinks {
  readonly errors: readonly AnswerError[];
}

export function ErrorList({ errors, errorGuide, docs }: ErrorListProps): JSX.Element {
  const [guide, setGuide] = useState<ErrorGuide>({});
  useEffect(() => {
    // Without the explanations, the list still has the messages and links.
    void loadErrorGuide(errorGuide).then(setGuide, () => undefined);
  }, [errorGuide]);
  const hiddenCount = errors.length - explainedMax;
  return (
    <section class="answer-errors" aria-label="Errors of the answer">
      {errors.slice(0, explainedMax).map((error, index) => (
        <ErrorCard
          // Several errors may be equal, and their order does not change.
          key={`${index} ${error.message}`}
          error={error}
          docs={docs}
          // Equal codes have one explanation, at the first error.
          explanation={
            errors.findIndex(({ code }) => code === error.code) === index
              ? guide[error.code ?? ""]
              : undefined
          }
        />
      ))}
      {hiddenCount > 0 ? <p class="soft">And {hiddenCount} more, in the JSON.</p> : null}
    </section>
  );
}

interface ErrorCardProps {
  readonly error: AnswerError;
  readonly docs: string;
  readonly explanation: ErrorExplanation | undefined;
}

function ErrorCard({ error, docs, explanation }: ErrorCardProps): JSX.Element {
  const { message, code, place, details, requestId } = error;
  return (
    <article class="card">
      <p class="message">
        {code === undefined ? null : (
          <>
            <span class="badge fault">{code}</span>{" "}
          </>
        )}
        {message}
      </p>
      {place === "" ? null : <p class="soft">At {place}.</p>}
      {details.length === 0 ? null : (
        <ul>
          {details.map(({ field, message: text, allowed }) => (
            <li key={`${field} ${text}`}>
              <code>{field}</code> {text}
              {allowed === null || allowed === undefined || allowed.length === 0
                ? null
                : ` Allowed: ${allowed.join(", ")}.`}
            </li>
          ))}
        </ul>
      )}
      {explanation === undefined ? null : (
        <details>
          <summary>Why this happens, and what to do</summary>
          <p>
            <CodeText text={explanation.why} />
          </p>
          <p>
            <CodeText text={explanation.remedy} />
          </p>
        </details>
      )}
      {code === undefined ? null : (
        <p class="soft">
          <a href={`${docs}/errors#${code}`} target="_blank" rel="noreferrer">
            {code} in the documentation
          </a>
          {requestId === undefined ? null : (
            <>
              {" "}
              · Request <code>{requestId}</code>
            </>
          )}
        </p>
      )}
    </article>
  );
}

/** Shows text between backticks as code. */
function CodeText({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {text.split("`").map((piece, index) =>
        // The pieces never change their order, so their index is a stable key.
        index % 2 === 1 ? <code key={`${index}`}>{piece}</code> : piece,
      )}
    </>
  );
}
