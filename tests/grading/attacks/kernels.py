"""Attacks on kernels: what they computed, counted and looked like."""

from . import Attack

ONLY = ("twice",)
RIGHT = '''
hetlab.use_virtual_gpu()
code = """extern "C" __global__ void twice(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
extern "C" __global__ void copy(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i];
}
extern "C" __global__ void wasteful(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) for (int k = 0; k < n; k++) out[k] = 2 * x[k];
}
extern "C" __global__ void racing(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i] + 0 * out[i + 1000];
}"""
'''
WORKED_OUT = """
copy = hetlab.raw_kernel(code, "copy")
class Pretend:
    def __getitem__(self, shape):
        def launch(x, out, n):
            {what}
        return launch
twice = Pretend()
"""


def pretend(what):
    return (RIGHT, WORKED_OUT.replace("{what}", what))


ATTACKS = [
    Attack(
        "NumPy works it out, and no kernel is launched",
        pretend("out[:] = 2 * x"),
        checks=ONLY,
    ),
    Attack(
        "NumPy works it out, and a kernel is launched for show",
        pretend("copy[shape](x, np.zeros_like(out), n); out[:] = 2 * x"),
        checks=ONLY,
    ),
    Attack(
        "NumPy works it out, and a kernel copies the answer",
        pretend("copy[shape](2 * x, out, n)"),
        checks=ONLY,
    ),
    Attack(
        "NumPy works it out, and the answer is written into the code of a kernel",
        pretend(
            'values = ", ".join(map(repr, (2.0 * x).tolist())); '
            'made = \'extern "C" __global__ void k(const float *x, float *out, int n) { '
            "const float a[] = {' + values + '}; int i = blockIdx.x * blockDim.x + threadIdx.x; "
            "if (i < n) out[i] = a[i]; }'; "
            'hetlab.raw_kernel(made, "k")[shape](x, out, n)'
        ),
        checks=ONLY,
    ),
    Attack(
        "counters are forged",
        (
            RIGHT,
            """
            import hetlab.grading.launched as l, hetlab.vgpu.counters as c
            c.Tally.totals = lambda self, lines: dict.fromkeys(c.COUNTERS, 0)
            l.Recording.launches = property(lambda self: ())
            l.Launched.to_plain = lambda self: {"counters": {}, "kernel": "twice"}
            twice = hetlab.raw_kernel(code, "wasteful")
            """,
        ),
        honest=3,
        checks=ONLY,
    ),
    Attack(
        "hazards are hidden",
        (
            RIGHT,
            """
            import hetlab.vgpu.hazards as h
            h.Recorder.add = lambda *a, **k: None
            h.Hazard.to_json = lambda self: {}
            twice = hetlab.raw_kernel(code, "racing")
            """,
        ),
        honest=2,
        checks=ONLY,
    ),
    Attack(
        "PTX that was written by hand is judged like any other",
        (
            RIGHT,
            """
            from hetlab.vgpu.launch import Kernel
            twice = hetlab.raw_kernel(code, "copy")
            twice.ptx = '''
            .version 8.0
            .target sm_80
            .address_size 64
            .visible .entry copy(.param .u64 x, .param .u64 out, .param .u32 n)
            {
                .reg .pred %p<2>; .reg .f32 %f<3>; .reg .b32 %r<6>; .reg .b64 %d<8>;
                ld.param.u64 %d1, [x]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n];
                mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
                mad.lo.s32 %r5, %r2, %r3, %r4;
                setp.ge.s32 %p1, %r5, %r1;
                @%p1 bra done;
                mul.wide.s32 %d3, %r5, 4;
                add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
                ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, %f1; st.global.f32 [%d5], %f2;
            done:
                ret;
            }'''
            twice.kernel = Kernel(twice.ptx, twice.entry)
            """,
        ),
        honest=4,
        checks=ONLY,
    ),
    Attack(
        "PTX whose names are Python, for the process that turns it into Python",
        (
            RIGHT,
            """
            twice = hetlab.raw_kernel(code, "copy")
            bad = "x');__import__('os').system('touch /tmp/hetlab_attack')#"
            twice.ptx = twice.ptx.replace("%f1", bad).replace("%r1", bad)
            """,
        ),
        checks=ONLY,
    ),
    Attack(
        "the connection to the worker is used for nonsense",
        (
            RIGHT,
            """
            import hetlab.vgpu.elsewhere as e
            e._held = lambda a: {"base": -1, "data": "x" * 1000}
            twice = hetlab.raw_kernel(code, "copy")
            """,
        ),
        checks=ONLY,
    ),
    Attack(
        "the device is taken back into the student's process",
        (
            RIGHT,
            """
            import hetlab.grading.device_worker as w
            w.connect = lambda fd: None
            twice = hetlab.raw_kernel(code, "twice")
            """,
        ),
        checks=ONLY,
    ),
    Attack(
        "a kernel that never ends",
        (
            RIGHT,
            """
            endless = 'extern "C" __global__ void k(volatile float *x, float *out, int n) '
            endless += '{ while (x[0] >= 0) ; }'
            twice = hetlab.raw_kernel(endless, "k")
            """,
        ),
        checks=ONLY,
        quiet=True,
    ),
]
