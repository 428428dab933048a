// Mistakes, by name in test_api_misuse.py and by number here, and correct uses beside them.
#include "harness.h"

using namespace AscendC;

using In = TQue<TPosition::VECIN, 1>;
using Out = TQue<TPosition::VECOUT, 1>;

void queues(GM_ADDR a, GM_ADDR, GM_ADDR, GM_ADDR, Options o) {
    TPipe pipe;
    In in;
    Out out;
    const auto x = global<half>(a);
    if (o.op == 1) in.AllocTensor<half>();
    if (o.op == 2) pipe.InitBuffer(in, 2, 100 * 1024);
    if (o.op == 3) pipe.InitBuffer(in, 0, 32);
    pipe.InitBuffer(in, 1, 2048);
    pipe.InitBuffer(out, 1, 2048);
    if (o.op == 4) in.DeQue<half>();
    auto first = in.AllocTensor<half>();
    if (o.op == 5) in.AllocTensor<half>();
    if (o.op == 6) out.EnQue(first);
    if (o.op == 7) DataCopy(first, x, 999);
    if (o.op == 8) DataCopy(first, x[512], 1024);
    if (o.op == 9) DataCopy(first[512], x, 1024);
    if (o.op == 10) DataCopy(first[8], x, 16);
    DataCopy(first, x, 1024);
    in.EnQue(first);
    if (o.op == 11) in.EnQue(first);
    if (o.op == 12) in.FreeTensor(first);
    auto second = in.DeQue<half>();
    auto result = out.AllocTensor<half>();
    if (o.op == 13) Add(result, second[3], second, 64);
    if (o.op == 14) Add(result, second, second, 1025);
    if (o.op == 15) Add(result, LocalTensor<half>(), second, 64);
    if (o.op == 16) result.SetValue(1024, static_cast<half>(1));
    if (o.op == 17) {
        const LocalTensor<half> l1(TPosition::A1, 0, 1024);
        Add(result, l1, second, 64);
    }
    if (o.op == 18) x.GetValue(1024);
    if (o.op == 19) GetTPipePtr()->Destroy(), GetTPipePtr();
    Add(result, second, second, 1024);
    out.EnQue(result);
    in.FreeTensor(second);
    if (o.op == 20) in.FreeTensor(second);
    result = out.DeQue<half>();
    DataCopy(x, result, 1024);
    out.FreeTensor(result);
}

void others(GM_ADDR a, GM_ADDR, GM_ADDR, GM_ADDR, Options o) {
    const auto x = global<half>(a);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    if (o.op == 1) buffer.Get<half>();
    pipe.InitBuffer(buffer, 512);
    if (o.op == 2) buffer.Get<half>(257);
    if (o.op == 3) SetFlag<HardEvent::MTE2_V>(9);
    if (o.op == 4) WaitFlag<HardEvent::MTE3_V>(EVENT_ID1);
    if (o.op == 5) LocalMemAllocator<Hardware::UB>().Alloc<float, 100 * 1024>();
    if (o.op == 6) LocalTensor<float>(TPosition::VECCALC, 196600, 8);
    if (o.op == 7) {
        TBufPool<TPosition::VECCALC> pool;
        In in;
        pipe.InitBufPool(pool, 1024);
        pool.InitBuffer(in, 2, 1024);
    }
    const auto t = buffer.Get<half>();
    if (o.op == 8) DataCopyPad(t, x, DataCopyExtParams{1, 20, 0, 0, 0}, DataCopyPadExtParams<half>{true, 17, 0, 0});
    if (o.op == 9) pipe.ReleaseEventID<HardEvent::V_MTE3>(3);
    if (o.op == 10) Trap();
    if (o.op == 11) Compare(buffer.Get<uint8_t>(), t, t, CMPMODE::LT, 100);
    if (o.op == 12) {
        uint64_t mask[2] = {~0ull, ~0ull};
        Add(t, t, t, mask, 3, {1, 1, 1, 8, 8, 8});  // the third repeat lies behind the buffer
    }
    if (o.op == 13) Cast(t, t, RoundMode::CAST_HYBRID, 16);
    if (o.op == 14) Add(t, t, t, -5);
    if (o.op == 15) DataCopy(x, t[16], 1024);
    if (o.op == 16) assert(o.op < 16);
}

// What must not be an error: addresses of the other core's memories, pools, tails, sync through events and nested pipes.
void correct(GM_ADDR a, GM_ADDR b, GM_ADDR c, GM_ADDR, Options o) {
    const LocalTensor<half> elsewhere(TPosition::A2, 0, 256);  // an address only, on a core without L0A
    const auto x = global<half>(a), y = global<half>(b);
    const auto report = global<int32_t>(c);
    {
        TPipe pipe;
        TBufPool<TPosition::VECCALC> pool, shared;
        In in, again;
        pipe.InitBufPool(pool, 8192);
        pipe.InitBufPool(shared, 8192, pool);
        pool.InitBuffer(in, 2, 1024);
        shared.InitBuffer(again, 2, 1024);
        const TEventID id = GetTPipePtr()->AllocEventID<HardEvent::MTE2_V>();
        auto t = in.AllocTensor<half>();
        // Three rows of five halves, padded by two on the left and one on the right.
        DataCopyPad(t, x, DataCopyExtParams{3, 10, 6, 0, 0}, DataCopyPadExtParams<half>{true, 2, 1, static_cast<half>(-1)});
        SetFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE2_V>(id);
        Adds(t, t, static_cast<half>(1), 48);
        PipeBarrier<PIPE_ALL>();
        DataCopyPad(y, t, DataCopyExtParams{3, 16, 0, 4, 0});
        in.EnQue(t);
        t = in.DeQue<half>();
        in.FreeTensor(t);
        GetTPipePtr()->ReleaseEventID<HardEvent::MTE2_V>(id);
    }
    TPipe pipe;
    if (o.op == 1) pipe.DestroyWithoutPipeAll();
    if (o.op == 2) pipe.Reset();
    if ASCEND_IS_AIV {
        report.SetValue(0, static_cast<int32_t>(GetBlockNum()));
        report.SetValue(1, static_cast<int32_t>(GetUBSizeInBytes()));
        report.SetValue(2, static_cast<int32_t>(elsewhere.GetSize()));
        SetAtomicAdd<int32_t>();
        const auto counted = local<int32_t>(3);
        Duplicate(counted, 1, 8);
        PipeBarrier<PIPE_ALL>();
        DataCopy(report[8], counted, 8);
        SetAtomicNone();
        SyncAll();
    }
}

const Entry kEntries[] = {{"queues", 0, 1, queues}, {"others", 0, 1, others}, {"correct", 0, 1, correct}};
const int kEntryCount = sizeof(kEntries) / sizeof(kEntries[0]);
