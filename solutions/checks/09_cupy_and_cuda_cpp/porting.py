"""Checks of lesson 09: from CUDA to HIP."""

import re

from hetlab.grading import Case, Correct, Task, Wrong, exact, unseen


### BEGIN PUBLIC SPEC
def to_hip_spec(source):
    source = source.replace("cuda_runtime.h", "hip/hip_runtime.h")
    return re.sub(r"\bcuda(?=[A-Z])", "hip", source)


### END PUBLIC SPEC
PROGRAM = """\
#include <cuda_runtime.h>

__global__ void twice(float* x, int n)  // the same in cuda and hip
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}

int main()
{
    float *barracudaX, host[100];
    cudaMalloc(&barracudaX, sizeof(host));
    cudaMemcpy(barracudaX, host, sizeof(host), cudaMemcpyHostToDevice);
    twice<<<1, 128>>>(barracudaX, 100);
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(host, barracudaX, sizeof(host), cudaMemcpyDeviceToHost);
    cudaFree(barracudaX);
    return error == cudaSuccess ? 0 : 1;
}
"""


def to_hip_cases(rng):
    yield Case("one call", "cudaFree(x);")
    yield Case("the header", "#include <cuda_runtime.h>\n")
    yield Case("a kernel", "__global__ void f(int* x) { x[threadIdx.x] = 1; }")
    yield Case("a name that only contains it", "float* barracudaX; cudaFree(barracudaX);")
    yield Case("a comment", "cudaFree(x);  // cuda or cudagraph, all the same")
    yield Case("two names in one call", "cudaMemcpy(a, b, n, cudaMemcpyDeviceToHost);")


to_hip = Task(
    "to_hip",
    title="Translate CUDA to HIP",
    criteria=[Correct(to_hip_spec, to_hip_cases, 2, agree=exact())],
    hints=(
        "Only names of the CUDA library change: those that begin with cuda and go on with a "
        "capital letter. Everything else stays.",
        "The header first. Then a regular expression: \\b is the edge of a word, and (?=[A-Z]) "
        "looks at the next letter without taking it.",
        're.sub(r"\\bcuda(?=[A-Z])", "hip", source), after '
        'source.replace("cuda_runtime.h", "hip/hip_runtime.h").',
    ),
    not_checked="that the result compiles: that takes AMD's hipcc",
)
### BEGIN HIDDEN
to_hip.wrong += [
    Wrong(
        "every cuda becomes hip",
        lambda source: source.replace("cuda", "hip"),
        "That also changes words that only contain these letters, and the header becomes "
        "hip_runtime.h instead of hip/hip_runtime.h.",
    ),
    Wrong(
        "the header is left as it is",
        lambda source: re.sub(r"\bcuda(?=[A-Z])", "hip", source),
        "The header has another name: hip/hip_runtime.h.",
    ),
    Wrong(
        "names that only contain it are changed",
        lambda source: re.sub(
            r"cuda(?=[A-Z])", "hip", source.replace("cuda_runtime.h", "hip/hip_runtime.h")
        ),
        "barracudaX is no name of the CUDA library: a name must begin with cuda.",
    ),
    Wrong(
        "only the first name of a line",
        lambda source: "\n".join(
            re.sub(r"\bcuda(?=[A-Z])", "hip", line, count=1)
            for line in source.replace("cuda_runtime.h", "hip/hip_runtime.h").split("\n")
        ),
        "A line may hold several names.",
    ),
]
unseen(to_hip, lambda rng: [Case("a program", PROGRAM, public=False)])
### END HIDDEN
